"""Real daemons, a real coordinator under gunicorn, real MySQL, simulated marketplaces over HTTP."""

from __future__ import annotations

import signal
from datetime import timedelta

import pytest

from deploy.sandbox.settings import Conduct, RateLimit
from tests.integration.worker.crawling import CALM, MARKETPLACES, PAGE_SIZE, POLICY, Crawling

LONG_PAGES = 1600 // PAGE_SIZE
SEVERAL_POLLS = timedelta(seconds=5 * float(POLICY["acquire_poll_seconds"]))
pytestmark = pytest.mark.timeout(180)


def test_a_crawl_stores_exactly_what_the_marketplaces_show(crawling: Crawling) -> None:
    for code in MARKETPLACES:
        crawling.behave(code, Conduct(error_rate=0.03, rate_limit=RateLimit(requests=10, seconds=0.5)))
    crawling.import_accounts("whole", *MARKETPLACES)
    servers = [crawling.server("one"), crawling.server("two")]
    crawling.wait_for_completion("whole", *MARKETPLACES)
    for code in MARKETPLACES:
        crawling.behave(code, CALM)
    found = crawling.comparison()
    assert found.matches, found.examples
    assert found.stored >= 2000
    assert [server.status for server in servers] == [None, None]


def test_after_a_kill_another_server_resumes_and_reads_no_page_again_that_was_durable(crawling: Crawling) -> None:
    before = crawling.pages_served("meridian")
    crawling.import_accounts("long", "meridian")
    killed = crawling.server("one")
    crawling.wait_for_pages("long", "meridian", LONG_PAGES // 3)
    killed.kill()
    read_by_killed = crawling.pages_served("meridian") - before
    durable = crawling.task("long", "meridian")["current_page"]
    assert LONG_PAGES // 3 <= durable <= read_by_killed < LONG_PAGES

    crawling.server("two")
    crawling.wait_for_completion("long", "meridian")
    assert crawling.pages_served("meridian") - before - read_by_killed == LONG_PAGES - durable
    task = crawling.task("long", "meridian")
    assert (task["fencing_token"], task["server_id"], task["processed_count"]) == (2, "two", 1600)
    assert crawling.comparison().matches


def test_a_drain_gives_everything_back_and_costs_no_page(crawling: Crawling) -> None:
    before = crawling.pages_served("bazaar")
    crawling.import_accounts("long", "bazaar")
    drained = crawling.server("one")
    crawling.wait_for_pages("long", "bazaar", LONG_PAGES // 3)
    crawling.terminate(drained)
    assert crawling.wait_for_end(drained) == 0

    task = crawling.task("long", "bazaar")
    assert task["state"] == "queued"
    assert task["attempts"] == 0
    assert task["current_page"] == crawling.pages_served("bazaar") - before < LONG_PAGES
    assert crawling.row("SELECT deregistered_at FROM servers WHERE server_id = 'one'")["deregistered_at"]

    crawling.server("two")
    crawling.wait_for_completion("long", "bazaar")
    assert crawling.pages_served("bazaar") - before == LONG_PAGES
    assert crawling.comparison().matches


def test_a_chief_that_drains_resigns_and_another_leads_at_once(crawling: Crawling) -> None:
    chief = crawling.server("one")
    crawling.wait_for_log(chief, "elected")
    crawling.terminate(chief)
    assert crawling.wait_for_end(chief) == 0
    reason = "SELECT end_reason FROM leadership_terms WHERE server_id = 'one' ORDER BY fencing_token DESC LIMIT 1"
    assert crawling.row(reason)["end_reason"] == "resigned"


def test_a_second_signal_ends_at_once(crawling: Crawling) -> None:
    crawling.behave("harbour", Conduct(latency_seconds=30))
    crawling.import_accounts("short", "harbour")
    hurried = crawling.server("one")
    crawling.wait_for_log(hurried, "task_acquired")
    crawling.terminate(hurried)
    crawling.wait_for_log(hurried, "draining")
    assert hurried.status is None
    hurried.send(signal.SIGINT)
    assert crawling.wait_for_end(hurried, seconds=5) == 1
    assert crawling.task("short", "harbour")["state"] == "running"

    crawling.behave("harbour", CALM)
    crawling.server("two")
    crawling.wait_for_completion("short", "harbour")


def test_another_boot_of_the_same_server_takes_over(crawling: Crawling) -> None:
    crawling.import_accounts("long", "harbour")
    former = crawling.server("one")
    crawling.wait_for_pages("long", "harbour", 5)
    latter = crawling.server("one", another_folder=True)
    assert crawling.wait_for_end(former) == 3
    crawling.wait_for_completion("long", "harbour")
    assert latter.status is None
    assert crawling.task("long", "harbour")["fencing_token"] == 2
    assert crawling.comparison().matches


def test_a_second_daemon_on_the_machine_is_refused(crawling: Crawling) -> None:
    first = crawling.server("one")
    crawling.wait_for_log(first, "registered")
    second = crawling.server("one")
    crawling.cluster.servers["first"] = first
    assert crawling.wait_for_end(second) == 1
    assert "another daemon runs as one on this machine" in crawling.log(second)
    assert first.status is None


def test_a_crawl_outlives_its_coordinator(crawling: Crawling) -> None:
    crawling.import_accounts("long", "quayside")
    server = crawling.server("one")
    crawling.wait_for_pages("long", "quayside", 10)
    crawling.restart_coordinator()
    crawling.wait_for_completion("long", "quayside")
    assert server.status is None
    assert crawling.comparison().matches


def test_a_policy_that_is_not_understood_stops_acquiring_until_it_is(crawling: Crawling) -> None:
    server = crawling.server("one")
    crawling.wait_for_log(server, "registered")
    crawling.cluster.command("policy", "set", 'must_understand=["moon_phase"]')
    assert crawling.wait_for_log(server, "alarm")["what"] == "policy_not_understood"
    crawling.import_accounts("short", "bazaar")
    crawling.wait_for(lambda: crawling.task("short", "bazaar").get("state") == "queued", "a plan")
    heard = "SELECT last_heartbeat_at FROM servers WHERE server_id = 'one'"
    planned_at = crawling.row(heard)["last_heartbeat_at"]
    crawling.wait_for(
        lambda: crawling.row(heard)["last_heartbeat_at"] > planned_at + SEVERAL_POLLS, "heartbeats that go on"
    )
    assert crawling.task("short", "bazaar")["state"] == "queued"
    crawling.cluster.command("policy", "set", "must_understand=[]")
    crawling.wait_for_completion("short", "bazaar")
