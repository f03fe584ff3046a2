"""Looks at the database all the time that something else happens to it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pymysql

from tests.invariants.checker import Connection, glance
from tests.invariants.movement import Movement

INTERVAL_SECONDS = 0.05
MOST_VIOLATIONS = 100


class Watch:
    """What was seen: ``snapshots`` judged, ``gaps`` in which the database was away, ``violations`` as sentences."""

    def __init__(self, connect: Callable[[], Connection], slots_per_server: int) -> None:
        self.snapshots = 0
        self.gaps = 0
        self.slowest_seconds = 0.0
        self.violations: list[str] = []
        self.failure: BaseException | None = None
        self._connect = connect
        self._slots_per_server = slots_per_server
        self._movement = Movement()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="invariants", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def end(self) -> None:
        """Look no more. Raises what broke the watcher: one that fell asleep proves nothing."""
        self._ended.set()
        self._thread.join(30)
        if self.failure is not None:
            raise self.failure

    def _run(self) -> None:
        try:
            while not self._ended.is_set():
                self._while_connected()
        except BaseException as error:
            self.failure = error

    def _while_connected(self) -> None:
        try:
            connection = self._connect()
        except pymysql.MySQLError:
            self._gap()
            return
        try:
            while not self._ended.is_set():
                self._look(connection)
                self._ended.wait(INTERVAL_SECONDS)
        except (pymysql.OperationalError, pymysql.InterfaceError):
            self._gap()
        finally:
            if connection.open:
                connection.close()

    def _look(self, connection: Connection) -> None:
        began = time.monotonic()
        found = glance(connection, self._movement, self._slots_per_server)
        self.slowest_seconds = max(self.slowest_seconds, time.monotonic() - began)
        self.snapshots += 1
        known = set(self.violations)
        self.violations += [text for text in found if text not in known][: MOST_VIOLATIONS - len(known)]

    def _gap(self) -> None:
        self.gaps += 1
        self._ended.wait(INTERVAL_SECONDS)


@contextmanager
def watching(connect: Callable[[], Connection], slots_per_server: int = 3) -> Iterator[Watch]:
    """Judge a snapshot every 50 ms while the block runs, on connections of ``connect``; look at the result after it."""
    watch = Watch(connect, slots_per_server)
    watch.start()
    try:
        yield watch
    finally:
        watch.end()
