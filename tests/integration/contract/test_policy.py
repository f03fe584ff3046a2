"""Section 10: the cluster's policy is the server's, telemetry, typed errors, bounded history, schema."""

from __future__ import annotations

from collections.abc import Callable

from coordinator.schema import NEWEST_SUPPORTED_VERSION
from shared import policy as policies
from shared import problems
from shared.states import Role
from tests.integration.clock import Clock
from tests.integration.contract.conftest import Daemons
from tests.integration.contract.proof import proves, refusal
from tests.integration.contract.sentences import OWNERSHIP, P0, P1, P2
from tests.integration.seed import Seed
from tests.integration.served.fixtures import COORDINATORS, Clients
from tests.integration.served.server import Served


@proves(P1)
def test_every_answer_carries_the_digest_of_the_policy_in_force(daemon_of: Daemons, clock: Clock) -> None:
    daemon = daemon_of("server-1")
    digests = set()
    for place in range(COORDINATORS):
        answer = daemon.client.get("/policy", coordinator=place)
        digests |= {answer.document["digest"], answer.headers["Policy-Digest"]}
    assert digests == {policies.digest(policies.DEFAULT)}


@proves(P2)
def test_a_heartbeat_leaves_what_the_daemon_measured(daemon_of: Daemons, clock: Clock, seed: Seed) -> None:
    daemon_of("server-1").show_life()
    sample = seed.row("server_samples", server_id="server-1")
    assert (float(sample["cpu_percent"]), sample["rss_bytes"], sample["running_tasks"]) == (12.5, 52_000_000, 1)


@proves(P2)
def test_every_refusal_is_a_problem_document_with_a_known_code(daemon_of: Daemons, clock: Clock) -> None:
    daemon = daemon_of("server-1")
    answers = [
        daemon.client.get("/nowhere"),
        daemon.client.post("/policy", {}),
        daemon.client.post("/tasks/acquire", b"{"),
        daemon.client.post("/tasks/acquire", {"server_id": "server-1"}),
        daemon.client.get("/cluster"),
        daemon.keep_house(7),
    ]
    assert [answer.status for answer in answers] == [404, 405, 422, 422, 403, 409]
    for answer in answers:
        assert answer.headers["Content-Type"] == problems.MEDIA_TYPE
        assert problems.BY_CODE[answer.document["code"]].status == answer.status == answer.document["status"]


@proves(P2)
def test_history_beyond_its_retention_goes_in_bounded_bites(daemon_of: Daemons, clock: Clock, seed: Seed) -> None:
    account_id = seed.account("bazaar", size=10)
    for _ in range(5):
        seed.task(account_id, "completed")
    clock.advance(seconds=policies.DEFAULT.history_days * 86_400 + 1)
    daemon = daemon_of("server-1", "bazaar")
    token = daemon.lead()
    assert daemon.keep_house(token).document["history_deleted"] >= 5
    assert seed.count("crawl_tasks") == 0


@proves(P0)
def test_a_coordinator_is_ready_only_with_its_schema(
    served_coordinators: list[Served], clock: Clock, seed: Seed
) -> None:
    answers = [served.send("GET", "/readyz", {}) for served in served_coordinators]
    assert [answer.status for answer in answers] == [503] * COORDINATORS, "no schema is recorded in an emptied database"
    assert [served.send("GET", "/healthz", {}).status for served in served_coordinators] == [200] * COORDINATORS
    assert NEWEST_SUPPORTED_VERSION >= 1


@proves(P1)
def test_grants_carry_the_seconds_that_apply(daemon_of: Daemons, waiting: Callable[..., int], clock: Clock) -> None:
    waiting()
    grant = daemon_of("server-1", "bazaar").take().grant
    assert (grant["lease_seconds"], grant["lease_remaining_seconds"]) == (60, 60)


@proves(OWNERSHIP)
def test_people_cannot_act_as_servers(served_client_of: Clients, daemon_of: Daemons, clock: Clock) -> None:
    boot_id = daemon_of("server-1").boot_id
    person = served_client_of("server-1", Role.OPERATOR, "person")
    answer = person.post("/leadership/campaign", {"server_id": "server-1", "boot_id": boot_id})
    assert refusal(answer) == (403, "forbidden")
