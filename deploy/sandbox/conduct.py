"""How a simulated marketplace misbehaves: slow answers, throttling, failures, drifting catalogues."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from math import ceil
from random import Random
from threading import Lock
from time import monotonic, sleep, time

from deploy.sandbox.catalogue import Catalogue
from deploy.sandbox.settings import Conduct, RateLimit


class Trouble(Exception):  # noqa: N818 - not an error of the sandbox: it is what was ordered
    """The marketplace answers with something else than a page."""

    def __init__(self, status: int, code: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(code)
        self.status = status
        self.code = code
        self.headers = dict(headers or {})


@dataclass(slots=True)
class _Window:
    began: float
    requests: int = 0


@dataclass(slots=True)
class Behaviour:
    """One marketplace's conduct, exchangeable at any moment, and what it has done so far. Safe for many threads."""

    conduct: Conduct
    chance: Random
    counts: Counter[str] = field(default_factory=Counter)
    _windows: dict[str, _Window] = field(default_factory=dict)
    _pages: Counter[str] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock)

    def meet(self, account_ref: str, catalogue: Catalogue) -> None:
        """Everything that happens to an authenticated request before its page. Raises `Trouble`."""
        conduct = self.conduct
        sleep(conduct.latency_seconds)
        with self._lock:
            self.counts["requests"] += 1
            self._throttle(account_ref, conduct.rate_limit)
            if self.chance.random() < conduct.error_rate:
                self.counts["failed"] += 1
                raise Trouble(self.chance.choice((500, 502, 503)), "unavailable")
            self.counts["pages"] += 1
            self._pages[account_ref] += 1
            drifts = conduct.drift is not None and self._pages[account_ref] % conduct.drift.every_pages == 0
        if drifts and conduct.drift is not None:
            catalogue.drift(conduct.drift)

    def page_size(self, asked: int) -> int:
        """The page size that is given to one who asks for this one."""
        return min(asked, self.conduct.page_size_limit)

    def _throttle(self, account_ref: str, limit: RateLimit | None) -> None:
        if limit is None:
            return
        now = monotonic()
        window = self._windows.get(account_ref)
        if window is None or now >= window.began + limit.seconds:
            window = self._windows[account_ref] = _Window(now)
        window.requests += 1
        if window.requests > limit.requests:
            self.counts["throttled"] += 1
            raise Trouble(429, "throttled", retry_after(limit.retry_after, window.began + limit.seconds - now))


def retry_after(form: str, wait_seconds: float) -> dict[str, str]:
    """The Retry-After header for a wait, in one of the forms of `RateLimit`."""
    forms = {
        "seconds": str(ceil(wait_seconds)),
        "fraction": f"{wait_seconds:.3f}",
        "date": formatdate(time() + ceil(wait_seconds), usegmt=True),
    }
    return {} if form == "absent" else {"Retry-After": forms.get(form, form)}
