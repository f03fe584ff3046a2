"""The sandbox's configuration: which accounts there are, and how their marketplaces behave."""

from pathlib import Path
from typing import Annotated, Literal

import msgspec

from deploy.sandbox.catalogue import Drift

Code = Literal["bazaar", "harbour", "meridian", "quayside"]
Positive = Annotated[int, msgspec.Meta(ge=1)]
Seconds = Annotated[float, msgspec.Meta(ge=0, le=3600)]


class RateLimit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`requests` per account in a window of `seconds`; beyond it 429 with a Retry-After in the form of `retry_after`.

    The forms are `seconds`, `fraction`, `date` and `absent`; any other text is sent as it is.
    """

    requests: Positive
    seconds: Annotated[float, msgspec.Meta(gt=0, le=3600)]
    retry_after: str = "seconds"


class PagingDrift(Drift, frozen=True, forbid_unknown_fields=True):
    """A drift that happens to an account's catalogue before every so many-th of its pages."""

    every_pages: Positive = 1


class Conduct(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a marketplace behaves.

    `page_size_limit` clamps what is asked for, `error_rate` is the share of requests that end in 5xx, cursors of the
    token marketplace live `cursor_ttl_seconds` (None: for ever).
    """

    latency_seconds: Seconds = 0.0
    page_size_limit: Positive = 100
    error_rate: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.0
    cursor_ttl_seconds: Seconds | None = None
    rate_limit: RateLimit | None = None
    drift: PagingDrift | None = None


class Account(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An account and the size of its catalogue at the start, in listings."""

    marketplace_code: Code
    account_ref: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9._-]{1,64}$")]
    size: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The configuration file: JSON with the seed, the accounts, and conducts by marketplace code."""

    seed: int
    accounts: list[Account]
    marketplaces: dict[Code, Conduct] = {}


def load(file: Path) -> Settings:
    """The configuration in a file. Raises `msgspec.ValidationError` naming the field, `OSError`."""
    return msgspec.json.decode(file.read_bytes(), type=Settings)
