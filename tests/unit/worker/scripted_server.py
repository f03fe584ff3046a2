"""A small HTTP server on loopback whose every answer is scripted, down to the bytes and when they are sent."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

TRICKLE_SECONDS = 0.02


class ScriptedServer:
    """Takes connections one by one; the next script answers the next request, then its connection is closed.

    ``requests`` are the raw requests in order. A script gets the connection and an event that is set at the end, by
    which it waits. With ``tls`` it speaks TLS.
    """

    def __init__(self, *scripts: Script, tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[bytes] = []
        self._scripts = list(scripts)
        self._tls = tls
        self._stopped = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve)

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()

    def _serve(self) -> None:
        for script in self._scripts:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            try:
                with self._tls.wrap_socket(connection, server_side=True) if self._tls else connection as channel:
                    self.requests.append(_read_request(channel))
                    script(channel, self._stopped)
            except OSError:
                continue  # the client gave up
            finally:
                connection.close()


Script = Callable[[socket.socket, threading.Event], None]


def answer(status: int = 200, body: bytes = b"{}", headers: Sequence[str] = ()) -> Script:
    """A whole answer."""
    return raw(head(status, [f"Content-Length: {len(body)}", *headers]) + body)


def raw(content: bytes) -> Script:
    """These bytes, then the end of the connection."""
    return lambda connection, stopped: connection.sendall(content)


def trickle(at_once: bytes, slowly: bytes) -> Script:
    """Some bytes, then others one by one: each arrives long before any timeout between two of them."""

    def script(connection: socket.socket, stopped: threading.Event) -> None:
        connection.sendall(at_once)
        for byte in slowly:
            if stopped.wait(TRICKLE_SECONDS):
                return
            connection.sendall(bytes([byte]))

    return script


def silence(connection: socket.socket, stopped: threading.Event) -> None:
    """The request is read, and nothing comes back."""
    stopped.wait(10)


def head(status: int = 200, headers: Sequence[str] = ()) -> bytes:
    """Status line and headers."""
    lines = [f"HTTP/1.1 {status} Scripted", "Connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


def _read_request(connection: socket.socket) -> bytes:
    content = b""
    while b"\r\n\r\n" not in content:
        piece = connection.recv(65536)
        if not piece:
            return content
        content += piece
    top, _, body = content.partition(b"\r\n\r\n")
    length = next(
        (int(line.split(b":")[1]) for line in top.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0
    )
    while len(body) < length:
        piece = connection.recv(65536)
        if not piece:
            break
        body += piece
    return top + b"\r\n\r\n" + body
