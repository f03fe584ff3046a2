"""Answers that must be whole in time.

The library's read timeout is for each piece that arrives: who sends a byte now and then, of the headers too, is never
late. Here it is for all of an answer: each read may last only as long as is left.
"""

import http.client
import io
import socket
import time
from typing import Any

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool


class _TimedBytes(io.RawIOBase):
    """What comes from a socket until its timeout, as it was at the beginning, has passed once."""

    def __init__(self, source: io.RawIOBase, channel: socket.socket) -> None:
        self._source = source
        self._channel = channel
        self._timeout = channel.gettimeout()
        self._ends_at = time.monotonic() + (self._timeout or 0.0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if self._timeout is not None:
            left = self._ends_at - time.monotonic()
            if left <= 0:
                raise TimeoutError("timed out")
            self._channel.settimeout(left)
        return self._source.readinto(buffer)

    def close(self) -> None:
        self._source.close()
        super().close()


class _TimedResponse(http.client.HTTPResponse):
    """Reads status, headers and body through ``_TimedBytes``."""

    def __init__(self, sock: socket.socket, *arguments: Any, **named: Any) -> None:
        super().__init__(sock, *arguments, **named)
        self.fp = io.BufferedReader(_TimedBytes(self.fp.detach(), sock))


class _Connection(HTTPConnection):
    response_class = _TimedResponse


class _TLSConnection(HTTPSConnection):
    response_class = _TimedResponse


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _TLSPool(HTTPSConnectionPool):
    ConnectionCls = _TLSConnection


class TimedAnswers(HTTPAdapter):
    """An adapter for one thread's session: one connection, no retries, and answers that are whole in time."""

    def __init__(self) -> None:
        super().__init__(pool_connections=1, pool_maxsize=1, max_retries=0)

    def init_poolmanager(self, *arguments: Any, **named: Any) -> None:
        """Make the pools whose connections read so."""
        super().init_poolmanager(*arguments, **named)
        self.poolmanager.pool_classes_by_scheme = {"http": _Pool, "https": _TLSPool}
