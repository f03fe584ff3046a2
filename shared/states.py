"""The closed sets of words that SQL, JSON and Python share."""

from enum import StrEnum


class TaskState(StrEnum):
    """Where a crawl task stands. An account has at most one task in an active state (I3)."""

    QUEUED = "queued"
    DELAYED = "delayed"
    HELD = "held"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


ACTIVE_STATES = frozenset({TaskState.QUEUED, TaskState.DELAYED, TaskState.HELD, TaskState.RUNNING})
ENDED_STATES = frozenset(TaskState) - ACTIVE_STATES


class SizeClass(StrEnum):
    """How a task counts against its marketplace's caps; a probe's size is not known yet."""

    SMALL = "small"
    LARGE = "large"
    PROBE = "probe"


class Enumeration(StrEnum):
    """Whether a crawl is known to have seen all that the marketplace has."""

    PROVEN = "proven"
    GUESSED = "guessed"


class Role(StrEnum):
    """What a signing key may do."""

    SERVER = "server"
    OPERATOR = "operator"
    VIEWER = "viewer"


class ListingStatus(StrEnum):
    """Whether the marketplace offers the listing for sale."""

    ACTIVE = "active"
    INACTIVE = "inactive"


class Progress(StrEnum):
    """What a task heartbeat did to the stored progress."""

    RECORDED = "recorded"
    STALE = "stale"


class TermEnd(StrEnum):
    """Why a term ended."""

    RESIGNED = "resigned"
    DEREGISTERED = "deregistered"
    SUPERSEDED = "superseded"
