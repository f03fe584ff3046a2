"""How many requests the shop takes from one user."""

from rest_framework.throttling import UserRateThrottle

WINDOW_SECONDS = 10


class TenSeconds(UserRateThrottle):
    """REST framework's own throttle, with a window for which its notation of rates (`6/s`, `6/m`) has no word.

    A second is so short that a busy machine is never throttled; a minute makes the test wait for minutes.
    """

    def parse_rate(self, rate: str) -> tuple[int, int]:
        """Requests, and the seconds in which they are taken."""
        return int(rate), WINDOW_SECONDS
