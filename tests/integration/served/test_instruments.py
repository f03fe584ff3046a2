"""The instruments of served coordinators: a clock that moves all of their processes at once."""

from __future__ import annotations

from datetime import timedelta

from shared.policy import DEFAULT
from tests.integration.clock import START, Clock
from tests.integration.seed import Seed
from tests.integration.served.fixtures import COORDINATORS, Clients

TELEMETRY = {"cpu_percent": 1.5, "rss_bytes": 5, "running_tasks": 0}


def test_all_coordinators_follow_the_moved_clock(served_client_of: Clients, clock: Clock, seed: Seed) -> None:
    boot_id = str(seed.server("server-1"))
    server = served_client_of("server-1")
    for coordinator in range(COORDINATORS):
        clock.set(START + timedelta(hours=coordinator))
        answer = server.post(
            "/servers/server-1/heartbeat", {"boot_id": boot_id, "telemetry": TELEMETRY}, coordinator=coordinator
        )
        assert answer.document["now"].startswith(clock.now.isoformat()), answer.document


def test_a_request_of_an_hour_ago_is_refused_by_all(served_client_of: Clients, clock: Clock) -> None:
    server = served_client_of("server-1")
    headers = server.sign("GET", "/policy")
    clock.advance(seconds=DEFAULT.signature_window_seconds + 1)
    answers = [server.send("GET", "/policy", b"", headers, coordinator) for coordinator in range(COORDINATORS)]
    assert [answer.document["code"] for answer in answers] == ["signature_expired"] * COORDINATORS
