"""The database's clock, moved instead of waited for.

``SET timestamp`` changes what ``UTC_TIMESTAMP(6)`` answers on one connection. The clock below sets it each time that
a connection leaves a pool of this process, so every transaction begins at the instant that the test chose. Other
processes, and transactions already begun, keep their own time.
"""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import event
from sqlalchemy.pool import Pool

START = datetime.datetime(2030, 1, 1, 12, 0, 0)

_EPOCH = datetime.datetime(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)


class Clock:
    """What time the test's connections see; the real time until ``set`` is called.

    All instants are naive UTC, exact to the microsecond.
    """

    def __init__(self) -> None:
        self._instant: datetime.datetime | None = None

    @property
    def now(self) -> datetime.datetime:
        """The instant that was set; raises ``RuntimeError`` while the clock runs by itself."""
        if self._instant is None:
            raise RuntimeError("this clock is the real one: ask for the fixture `clock`, or set it first")
        return self._instant

    def set(self, instant: datetime.datetime) -> None:
        """Stop the clock at ``instant``."""
        self._instant = instant

    def advance(self, *, seconds: float | Decimal | str = 0, microseconds: int = 0) -> datetime.datetime:
        """Move on by so much (back, if negative), without binary rounding; returns the new instant."""
        step = int(Decimal(str(seconds)) * 1_000_000) + microseconds
        self.set(self.now + step * _MICROSECOND)
        return self.now

    def release(self) -> None:
        """Let the real time through again."""
        self._instant = None

    def apply(self, dbapi_connection: Any) -> None:
        """Give one raw connection this time; needed for connections that no pool of this process hands out."""
        with dbapi_connection.cursor() as cursor:
            if self._instant is None:
                cursor.execute("SET timestamp = DEFAULT")
            else:
                elapsed = (self._instant - _EPOCH) // _MICROSECOND
                cursor.execute("SET timestamp = %s", (Decimal(elapsed) / 1_000_000,))

    def install(self) -> None:
        """Watch every SQLAlchemy pool of this process."""
        event.listen(Pool, "checkout", self._checked_out)

    def remove(self) -> None:
        """Watch none any more."""
        event.remove(Pool, "checkout", self._checked_out)

    def _checked_out(self, dbapi_connection: Any, _record: Any, _proxy: Any) -> None:
        self.apply(dbapi_connection)
