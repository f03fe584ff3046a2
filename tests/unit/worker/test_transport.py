"""The fence: one origin, no redirects, no environment, a cap on size and on the whole time."""

from __future__ import annotations

import gzip
import socket
import threading
import time
from pathlib import Path

import pytest

from tests.unit.worker.scripted_server import Script, ScriptedServer, answer, head, raw, silence, trickle
from worker.connectors.failures import Misdirected, Overdue, Oversize, PageUnreadable, Unreachable
from worker.connectors.origin import Origin
from worker.connectors.seam import Response
from worker.transport import Transport

DEADLINE_SECONDS = 0.4
MAX_BYTES = 100_000
HALF_A_MINUTE_OF_BYTES = b"x" * 1500


def ask(server: ScriptedServer, deadline_seconds: float = 10.0) -> Response:
    transport = Transport(Origin.parse(server.url), max_bytes=MAX_BYTES)
    return transport.send("GET", f"{server.url}/path?query=1", {"X-Ours": "yes"}, b"", deadline_seconds)


def test_an_answer_comes_with_its_status_and_lower_case_headers() -> None:
    with ScriptedServer(answer(418, b"short", ["X-Theirs: Yes", "Set-Cookie: a=1", "Set-Cookie: b=2"])) as server:
        response = ask(server)
    assert (response.status, response.body) == (418, b"short")
    assert response.headers["x-theirs"] == "Yes"
    assert response.headers["set-cookie"] == "a=1, b=2"
    assert server.requests[0].startswith(b"GET /path?query=1 HTTP/1.1\r\n")
    assert b"\r\nX-Ours: yes\r\n" in server.requests[0]


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(trickle(b"", HALF_A_MINUTE_OF_BYTES), id="status"),
        pytest.param(trickle(b"HTTP/1.1 200 OK\r\nX-Slow: ", HALF_A_MINUTE_OF_BYTES), id="headers"),
        pytest.param(trickle(head(), HALF_A_MINUTE_OF_BYTES), id="body"),
        pytest.param(trickle(head(headers=["Transfer-Encoding: chunked"]) + b"1", HALF_A_MINUTE_OF_BYTES), id="chunk"),
        pytest.param(
            trickle(head(headers=["Content-Encoding: gzip"]), gzip.compress(b"", 0) * 99), id="nothing in gzip"
        ),
        pytest.param(silence, id="nothing"),
    ],
)
def test_an_answer_that_trickles_in_is_given_up_at_the_deadline(script: Script) -> None:
    with ScriptedServer(script) as server:
        began = time.monotonic()
        with pytest.raises(Overdue):
            ask(server, DEADLINE_SECONDS)
        assert DEADLINE_SECONDS * 0.9 <= time.monotonic() - began < DEADLINE_SECONDS + 1


def test_what_came_already_gives_no_more_time() -> None:
    def script(connection: socket.socket, stopped: threading.Event) -> None:
        connection.sendall(head())
        stopped.wait(0.8)
        connection.sendall(b"x")
        stopped.wait(10)

    with ScriptedServer(script) as server:
        began = time.monotonic()
        with pytest.raises(Overdue):
            ask(server, deadline_seconds=1.0)
        assert time.monotonic() - began < 1.6


def test_a_connection_that_is_used_again_gets_the_whole_time_again() -> None:
    kept_alive = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"

    def script(connection: socket.socket, stopped: threading.Event) -> None:
        connection.sendall(kept_alive)
        connection.recv(65536)
        stopped.wait(2 * DEADLINE_SECONDS)
        connection.sendall(kept_alive)

    with ScriptedServer(script) as server:
        transport = Transport(Origin.parse(server.url))
        transport.send("GET", f"{server.url}/", {}, b"", DEADLINE_SECONDS)
        assert transport.send("GET", f"{server.url}/", {}, b"", 10.0).status == 200


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(head(headers=["Content-Length: 100"]) + b"half of it", id="half a body"),
        pytest.param(head(headers=["Transfer-Encoding: chunked"]) + b"ff\r\nhalf", id="half a chunk"),
        pytest.param(b"", id="nothing"),
        pytest.param(b"SSH-2.0-OpenSSH\r\n", id="not HTTP"),
    ],
)
def test_a_broken_answer_is_no_answer(content: bytes) -> None:
    with ScriptedServer(raw(content)) as server, pytest.raises(Unreachable):
        ask(server)


def test_nobody_there_is_unreachable() -> None:
    with ScriptedServer() as server:
        pass
    with pytest.raises(Unreachable):
        ask(server)


def test_more_than_the_cap_is_not_read() -> None:
    with ScriptedServer(answer(body=b"x" * MAX_BYTES), answer(body=b"x" * (MAX_BYTES + 1))) as server:
        assert len(ask(server).body) == MAX_BYTES
        with pytest.raises(Oversize):
            ask(server)


def test_a_compressed_answer_is_unpacked() -> None:
    with ScriptedServer(answer(body=gzip.compress(b"unpacked"), headers=["Content-Encoding: gzip"])) as server:
        assert ask(server).body == b"unpacked"


@pytest.mark.parametrize("layers", [1, 2])
def test_a_bomb_meets_the_cap(layers: int) -> None:
    body = b"\0" * 200_000_000 if layers == 1 else b"\0" * 50_000_000
    for _ in range(layers):
        body = gzip.compress(body, 1)
    encoding = ", ".join(["gzip"] * layers)
    with (
        ScriptedServer(answer(body=body, headers=[f"Content-Encoding: {encoding}"])) as server,
        pytest.raises(Oversize),
    ):
        ask(server)


def test_a_body_that_is_not_what_its_encoding_says_is_unreadable() -> None:
    with (
        ScriptedServer(answer(body=b"plain text", headers=["Content-Encoding: gzip"])) as server,
        pytest.raises(PageUnreadable),
    ):
        ask(server)


def test_a_redirect_is_an_answer_and_not_followed() -> None:
    with ScriptedServer(answer(302, b"", ["Location: /elsewhere"]), answer()) as server:
        assert ask(server).status == 302
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:1/", "https://127.0.0.1:{port}/", "http://localhost:{port}/", "http://u@127.0.0.1:{port}/"],
)
def test_another_origin_is_not_asked(url: str) -> None:
    with ScriptedServer(answer()) as server:
        transport = Transport(Origin.parse(server.url))
        with pytest.raises(Misdirected):
            transport.send("GET", url.format(port=server.port), {})
    assert server.requests == []


def test_a_path_beside_the_prefix_is_not_asked() -> None:
    with ScriptedServer(answer()) as server:
        transport = Transport(Origin.parse(f"{server.url}/prefix"))
        for path in ("/other", "/prefixed/x", "/prefix/../other", "/prefix/%2e%2e/other"):
            with pytest.raises(Misdirected):
                transport.send("GET", f"{server.url}{path}", {})
    assert server.requests == []


def test_proxies_and_netrc_of_the_environment_are_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password else\n")
    monkeypatch.setenv("NETRC", str(netrc))
    with ScriptedServer() as nobody:
        pass
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, nobody.url)
    with ScriptedServer(answer()) as server:
        assert ask(server).status == 200
    assert b"authorization" not in server.requests[0].lower()
