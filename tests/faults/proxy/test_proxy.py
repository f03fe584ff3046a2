"""What each mode does to a connection, seen from both of its ends."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.faults.proxy.proxy import Mode, Proxy

PATIENCE_SECONDS = 5
SOON_SECONDS = 0.3
"""How long nothing has to come before the test believes that nothing comes."""


class Ends:
    """A server that listens, a proxy before it, and what connects."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(PATIENCE_SECONDS)
        self.proxy = Proxy(("127.0.0.1", 0), self.listener.getsockname())
        self._opened: list[socket.socket] = [self.listener]

    def connect(self) -> tuple[socket.socket, socket.socket]:
        client = self.client()
        server, _ = self.listener.accept()
        server.settimeout(PATIENCE_SECONDS)
        self._opened.append(server)
        return client, server

    def client(self) -> socket.socket:
        client = socket.create_connection(("127.0.0.1", self.proxy.port), timeout=PATIENCE_SECONDS)
        self._opened.append(client)
        return client

    def close(self) -> None:
        self.proxy.close()
        for each in self._opened:
            each.close()


@pytest.fixture
def ends() -> Iterator[Ends]:
    with closing(Ends()) as made:
        yield made


def nothing_comes(end: socket.socket) -> bool:
    end.settimeout(SOON_SECONDS)
    try:
        return end.recv(10) is None
    except TimeoutError:
        return True
    finally:
        end.settimeout(PATIENCE_SECONDS)


def is_reset(end: socket.socket) -> bool:
    try:
        return end.recv(10) == b""
    except ConnectionResetError:
        return True


def test_it_passes_both_ways_and_the_end(ends: Ends) -> None:
    client, server = ends.connect()
    client.sendall(b"ask")
    assert server.recv(10) == b"ask"
    server.sendall(b"answer")
    server.close()
    assert client.recv(10) == b"answer"
    assert client.recv(10) == b""


def test_cut_resets_old_and_new_connections(ends: Ends) -> None:
    client, server = ends.connect()
    ends.proxy.spoil(Mode.CUT)
    assert is_reset(client)
    assert is_reset(server)
    assert is_reset(ends.client())
    ends.proxy.heal()
    client, server = ends.connect()
    client.sendall(b"again")
    assert server.recv(10) == b"again"


def test_a_lost_answer_belongs_to_a_delivered_request(ends: Ends) -> None:
    client, server = ends.connect()
    ends.proxy.spoil(Mode.LOSE_ANSWERS)
    client.sendall(b"do it")
    assert server.recv(10) == b"do it"
    server.sendall(b"done")
    assert nothing_comes(client)
    ends.proxy.heal()
    assert is_reset(client)


def test_what_is_swallowed_reaches_nobody(ends: Ends) -> None:
    client, server = ends.connect()
    ends.proxy.spoil(Mode.SWALLOW)
    client.sendall(b"do it")
    assert nothing_comes(server)
    ends.proxy.heal()
    assert is_reset(client)
    assert is_reset(server)


def test_a_delay_loses_nothing(ends: Ends) -> None:
    client, server = ends.connect()
    ends.proxy.spoil(Mode.DELAY)
    client.sendall(b"late")
    assert nothing_comes(server)
    assert server.recv(10) == b"late"


def test_a_trickle_loses_nothing(ends: Ends) -> None:
    client, server = ends.connect()
    ends.proxy.spoil(Mode.TRICKLE)
    server.sendall(b"x" * 200)
    received, pieces = b"", 0
    while len(received) < 200:
        received += client.recv(1000)
        pieces += 1
    assert received == b"x" * 200
    assert pieces > 1


def test_a_server_that_is_away_is_a_reset(ends: Ends) -> None:
    ends.listener.close()
    assert is_reset(ends.client())


def test_unix_sockets_pass_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("server")
        listener.listen()
        with closing(Proxy("proxy", "server")), socket.socket(socket.AF_UNIX) as client:
            client.connect("proxy")
            server, _ = listener.accept()
            with server:
                client.sendall(b"ask")
                assert server.recv(10) == b"ask"
