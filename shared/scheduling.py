"""The scheduling formulas: pure functions over plain numbers, used by coordinator, Chief and simulator alike."""

import math
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from shared.states import SizeClass

SMALLEST_SIZE = 20
LARGEST_SIZE = 20_000
LARGE_OVER_WHERE_YIELDING = 2_000
LARGE_OVER_WHERE_NOT = 5_000
RESERVE_DIVISOR = 5
THETA_SHARE = 1 / 12


def theta_seconds(longest_refresh_interval_seconds: float) -> float:
    """How many seconds of waiting one doubling of size is worth: a twelfth of the longest refresh interval."""
    return longest_refresh_interval_seconds * THETA_SHARE


def penalty_seconds(size: int, theta: float) -> float:
    """What a task's size adds to its due time, in seconds: between 0 and about 10 theta."""
    clamped = min(max(size, SMALLEST_SIZE), LARGEST_SIZE)
    return theta * math.log2(clamped / SMALLEST_SIZE)


def dispatch_key(due_at: datetime, size: int | None, theta: float) -> datetime:
    """The instant that orders waiting tasks, smallest first; an unknown size adds nothing.

    Every task ages at the same rate, so the order of two tasks never depends on when it is asked. The key is
    therefore written once. Nobody waits more than its own penalty longer than under FIFO in the worst case.
    """
    if size is None:
        return due_at
    return due_at + timedelta(seconds=penalty_seconds(size, theta))


def size_class(size: int | None, yields: bool) -> SizeClass:
    """Which class a task of ``size`` records belongs to on a marketplace that yields or does not."""
    if size is None:
        return SizeClass.PROBE
    threshold = LARGE_OVER_WHERE_YIELDING if yields else LARGE_OVER_WHERE_NOT
    return SizeClass.LARGE if size > threshold else SizeClass.SMALL


def quota(quota_per_server: Decimal, active_servers: int) -> int:
    """How many tasks of one marketplace may run in a cluster of ``active_servers`` (N); never less than one.

    Decimal, because 0.1 * 30 in binary floating point is over 3 and would round up to 4.
    """
    return max(1, math.ceil(quota_per_server * active_servers))


def large_cap(marketplace_quota: int) -> int:
    """How many of a marketplace's ``marketplace_quota`` running tasks may be large; never less than one."""
    reserve = max(1, math.ceil(Fraction(marketplace_quota, RESERVE_DIVISOR)))
    return max(1, marketplace_quota - reserve)


def backoff_ceiling_seconds(attempts: int, base_seconds: float, cap_seconds: float) -> float:
    """The longest wait before retry number ``attempts`` (from 1): ``base * 2^(attempts-1)``, at most ``cap``."""
    return float(min(cap_seconds, base_seconds * 2 ** min(attempts - 1, 32)))


def backoff_seconds(attempts: int, base_seconds: float, cap_seconds: float, draw: float) -> float:
    """A wait with full jitter: ``draw``, uniform in [0, 1), spreads retries that failed together.

    Source: exponential backoff with full jitter, as published by the AWS Architecture Blog in 2015.
    """
    return draw * backoff_ceiling_seconds(attempts, base_seconds, cap_seconds)


def cooldown_seconds(consecutive_failures: int, first_seconds: float, refresh_interval_seconds: float) -> float:
    """How long after its ``consecutive_failures``-th failed task (from 1) an account is due again.

    Doubles with each failure, up to the account's refresh interval.
    """
    return float(min(refresh_interval_seconds, first_seconds * 2 ** min(consecutive_failures - 1, 32)))
