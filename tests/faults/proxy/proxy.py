"""A loopback proxy that spoils connections on demand: TCP or unix sockets, whatever protocol passes through.

Threads, since few connections pass and each direction must be spoiled by itself.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from enum import Enum
from pathlib import Path
from typing import TypeAlias

Address: TypeAlias = "tuple[str, int] | str"

_CHUNK = 65536
_TRICKLE_BYTES = 48
_RESET = struct.pack("ii", 1, 0)


class Mode(Enum):
    """What is done to what passes.

    ``DELAY`` holds every piece back, ``CUT`` and ``REFUSE`` reset connections (new ones too), ``SWALLOW`` takes all and
    passes nothing, ``LOSE_ANSWERS`` delivers requests and nothing back, ``TRICKLE`` lets answers through in drops.
    """

    PASS = "pass"
    DELAY = "delay"
    CUT = "cut"
    SWALLOW = "swallow"
    LOSE_ANSWERS = "lose answers"
    TRICKLE = "trickle"


class Proxy:
    """Listens at ``address`` and passes everything to ``upstream``, which may be set later."""

    def __init__(self, address: Address, upstream: Address, *, delay_seconds: float = 0.5) -> None:
        self.upstream = upstream
        self._delay_seconds = delay_seconds
        self._mode = Mode.PASS
        self._links: set[_Link] = set()
        self._guard = threading.Lock()
        self._closed = threading.Event()
        self._listener = _listen(address)
        threading.Thread(target=self._accept, name="proxy", daemon=True).start()

    @property
    def port(self) -> int:
        """The TCP port that it listens on."""
        return int(self._listener.getsockname()[1])

    @property
    def mode(self) -> Mode:
        """What it does now."""
        return self._mode

    def spoil(self, mode: Mode) -> None:
        """Do this to all connections from now on, until `heal`."""
        self._mode = mode
        if mode is Mode.CUT:
            self._reset(lambda _: True)

    def heal(self) -> None:
        """Pass everything again; connections that lost bytes are reset, since what follows would be garbage."""
        self._mode = Mode.PASS
        self._reset(lambda link: link.spoiled)

    def close(self) -> None:
        """Listen no more and end all connections."""
        self._closed.set()
        self._listener.close()
        self._reset(lambda _: True)

    def held_back(self) -> None:
        """Wait as long as a delay lasts, or until the proxy closes."""
        self._closed.wait(self._delay_seconds)

    def drip(self) -> None:
        """Wait between two drops."""
        self._closed.wait(0.02)

    def forget(self, link: _Link) -> None:
        """A connection has ended."""
        with self._guard:
            self._links.discard(link)

    def _reset(self, which: object) -> None:
        with self._guard:
            links = [link for link in self._links if which(link)]  # type: ignore[operator]
        for link in links:
            link.reset()

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self._mode is Mode.CUT:
                _reset_socket(client)
                continue
            try:
                server = _connect(self.upstream)
            except OSError:
                _reset_socket(client)
                continue
            link = _Link(self, client, server)
            with self._guard:
                self._links.add(link)
            link.start()


class _Link:
    """One client's connection and the one made for it."""

    def __init__(self, proxy: Proxy, client: socket.socket, server: socket.socket) -> None:
        self.spoiled = False
        self._proxy = proxy
        self._client = client
        self._server = server

    def start(self) -> None:
        for source, target in ((self._client, self._server), (self._server, self._client)):
            threading.Thread(target=self._pump, args=(source, target), name="proxy-pump", daemon=True).start()

    def reset(self) -> None:
        for end in (self._client, self._server):
            _reset_socket(end)

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        try:
            while data := source.recv(_CHUNK):
                self._pass(data, target, answering=source is self._server)
            with contextlib.suppress(OSError):
                target.shutdown(socket.SHUT_WR)
        except OSError:
            self.reset()
        finally:
            self._proxy.forget(self)

    def _pass(self, data: bytes, target: socket.socket, *, answering: bool) -> None:
        mode = self._proxy.mode
        if mode is Mode.SWALLOW or (mode is Mode.LOSE_ANSWERS and answering):
            self.spoiled = True
        if self.spoiled and (answering or mode is not Mode.LOSE_ANSWERS):
            return
        if mode is Mode.DELAY:
            self._proxy.held_back()
        if mode is Mode.TRICKLE and answering:
            for place in range(0, len(data), _TRICKLE_BYTES):
                target.sendall(data[place : place + _TRICKLE_BYTES])
                self._proxy.drip()
            return
        target.sendall(data)


def _listen(address: Address) -> socket.socket:
    if isinstance(address, str):
        Path(address).unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX)
    else:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(address)
    listener.listen(64)
    return listener


def _connect(address: Address) -> socket.socket:
    made = socket.socket(socket.AF_UNIX if isinstance(address, str) else socket.AF_INET)
    try:
        made.settimeout(5)
        made.connect(address)
        made.settimeout(None)
    except OSError:
        made.close()
        raise
    return made


def _reset_socket(end: socket.socket) -> None:
    """Close at once, and with a reset where the protocol knows one: a pump that waits on it wakes up."""
    with contextlib.suppress(OSError):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    with contextlib.suppress(OSError):
        end.close()
