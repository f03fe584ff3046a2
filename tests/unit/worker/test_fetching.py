"""Reading pages: what follows from a marketplace's answers, and from their lack."""

from __future__ import annotations

import pytest

from shared.policy import Policy
from shared.states import Enumeration
from tests.unit.worker.granting import Clock, grant
from tests.unit.worker.marketplace import NOW, ScriptedConnector, ScriptedStop, ScriptedTransport
from worker.batching import PageRead
from worker.connectors.failures import (
    AccountMisconfigured,
    ConnectorFailure,
    CursorTooLong,
    Misdirected,
    Overdue,
    Unreachable,
)
from worker.connectors.seam import Capabilities, Cursor
from worker.fetching import MAX_DEMANDED_WAITS, MAX_TRIES, CrawlFailedError, PageReader, read_end
from worker.running_task import Checkpoint, RunningTask

POLICY = Policy(task_lease_seconds=60, progress_timeout_seconds=900)


class Reading:
    """One acquisition's reading, with a clock that only waits move."""

    def __init__(
        self,
        connector: ScriptedConnector,
        *script: int | ConnectorFailure,
        checkpoint: Checkpoint | None = None,
        guessed: bool = False,
        wall: float = NOW,
    ) -> None:
        self.clock = Clock()
        self.task = RunningTask(grant(checkpoint, guessed=guessed), self.clock)
        self.stop = ScriptedStop(self.clock)
        self.task.stop = self.stop
        self.transport = ScriptedTransport(*script)
        self.reader = PageReader(connector, self.transport, self.task, POLICY, wall=lambda: wall, draw=lambda: 0.5)

    def pages(self) -> list[PageRead]:
        return list(self.reader.pages())

    def fails(self) -> CrawlFailedError:
        with pytest.raises(CrawlFailedError) as caught:
            self.pages()
        return caught.value


def refs(pages: list[PageRead]) -> list[str]:
    return [listing.listing_ref for page in pages for listing in page.listings]


def test_a_crawl_reads_every_page_and_counts() -> None:
    reading = Reading(ScriptedConnector([2, 0, 1], total=3))
    pages = reading.pages()
    assert refs(pages) == ["0-0", "0-1", "2-0"]
    assert [(page.reached.current_page, page.reached.processed_count) for page in pages] == [(1, 2), (2, 2), (3, 3)]
    assert {page.reached.total_discovered_count for page in pages} == {3}
    assert reading.task.report()["current_page"] == 3


def test_the_page_size_asked_for_is_what_both_sides_bear() -> None:
    small = ScriptedConnector([1], capabilities=Capabilities(30, True, True, None))
    large = ScriptedConnector([1], capabilities=Capabilities(1000, True, True, None))
    Reading(small).pages()
    Reading(large).pages()
    assert (small.asked_sizes, large.asked_sizes) == ([30], [POLICY.flush_records])


@pytest.mark.parametrize("durable", range(5))
def test_from_every_checkpoint_the_rest_is_read_and_nothing_else(durable: int) -> None:
    connector = ScriptedConnector([3, 1, 0, 2])
    whole = Reading(connector).pages()
    checkpoint = whole[durable - 1].reached if durable else None
    guessed = any(page.guessed for page in whole[:durable])  # flushed with its page, and granted with the checkpoint
    resumed = Reading(connector, checkpoint=checkpoint, guessed=guessed)
    rest = resumed.pages()
    assert refs(rest) == refs(whole[durable:])
    assert [page.reached for page in rest] == [page.reached for page in whole[durable:]]
    assert len(resumed.transport.urls) == 4 - durable


def test_a_total_never_shrinks() -> None:
    reading = Reading(ScriptedConnector([1, 1], total=2), checkpoint=Checkpoint(1, Cursor("1", NOW).encode(), 1, 50))
    assert reading.pages()[-1].reached.total_discovered_count == 50


@pytest.mark.parametrize(
    ("connector", "guessed"),
    [
        pytest.param(ScriptedConnector([1, 1], end=Enumeration.GUESSED), False, id="the end"),
        pytest.param(ScriptedConnector([1, 1, 1], unusable={"0-0": None}), False, id="a record without identity"),
        pytest.param(ScriptedConnector([1, 1]), True, id="an owner before"),
        pytest.param(ScriptedConnector([1, 0, 1]), False, id="an empty page in mid-crawl"),
        pytest.param(ScriptedConnector([2, 1, 2], told_size=2), False, id="a short page in mid-crawl"),
    ],
)
def test_what_was_guessed_once_stays_guessed(connector: ScriptedConnector, guessed: bool) -> None:
    pages = Reading(connector, guessed=guessed).pages()
    assert read_end(pages[-1].reached.last_cursor_token) is Enumeration.GUESSED


def test_a_last_page_may_be_short_or_empty() -> None:
    for connector in (ScriptedConnector([2, 2, 1], told_size=2), ScriptedConnector([2, 0])):
        assert read_end(Reading(connector).pages()[-1].reached.last_cursor_token) is Enumeration.PROVEN


def test_a_reject_with_an_identity_guesses_nothing() -> None:
    pages = Reading(ScriptedConnector([2, 1], unusable={"0-0": "0-0"})).pages()
    assert [len(page.rejects) for page in pages] == [1, 0]
    assert read_end(pages[-1].reached.last_cursor_token) is Enumeration.PROVEN


def test_trouble_that_passes_costs_tries_and_no_page() -> None:
    reading = Reading(ScriptedConnector([1, 1]), 500, Unreachable("broke"), Overdue("late"), 500, 200, 500)
    assert refs(reading.pages()) == ["0-0", "1-0"]
    assert reading.stop.waits == [1.0, 2.0, 4.0, 8.0, 1.0]


def test_trouble_that_stays_fails_the_crawl_for_now() -> None:
    reading = Reading(ScriptedConnector([1]), *([500] * 100))
    failure = reading.fails()
    assert (failure.code, failure.retryable) == ("marketplace_unavailable", True)
    assert len(reading.transport.urls) == MAX_TRIES


def test_a_demanded_wait_is_kept_declared_and_costs_no_try() -> None:
    reading = Reading(ScriptedConnector([1]), *([429] * MAX_DEMANDED_WAITS))
    assert refs(reading.pages()) == ["0-0"]
    assert reading.stop.waits == [7.0] * MAX_DEMANDED_WAITS


def test_a_wait_is_declared_before_it_is_waited_for() -> None:
    reading = Reading(ScriptedConnector([1]), 429)
    declared: list[float] = []
    noted = reading.stop.wait

    def wait(timeout: float | None = None) -> bool:
        declared.append(reading.task.report()["rate_limit_wait_seconds"])
        return noted(timeout)

    reading.stop.wait = wait  # type: ignore[method-assign]
    reading.pages()
    assert declared == [7.0]


def test_waits_without_end_fail_the_crawl_for_now() -> None:
    failure = Reading(ScriptedConnector([1]), *([429] * 100)).fails()
    assert (failure.code, failure.retryable, failure.retry_after_seconds) == ("rate_limited", True, 7.0)


def test_a_wait_longer_than_a_lease_lets_the_slot_go() -> None:
    reading = Reading(ScriptedConnector([1]), 430)
    failure = reading.fails()
    assert (failure.code, failure.retryable, failure.retry_after_seconds) == ("rate_limited", True, 61.0)
    assert reading.stop.waits == []


def test_a_pause_that_comes_with_503_is_kept_and_declared() -> None:
    reading = Reading(ScriptedConnector([1]), 503)
    reading.pages()
    assert reading.stop.waits == [20.0]


@pytest.mark.parametrize(
    ("answer", "code", "retryable"),
    [
        (401, "bad_credentials", False),
        (404, "not_found", False),
        (410, "cursor_expired", True),
        (Misdirected("elsewhere"), "foreign_origin", False),
        (CursorTooLong("long"), "cursor_too_long", False),
        (AccountMisconfigured(["no shop"], of_credentials=False), "account_misconfigured", False),
        (AccountMisconfigured(["no key"], of_credentials=True), "bad_credentials", False),
    ],
)
def test_what_asking_again_does_not_help_ends_the_crawl(
    answer: int | ConnectorFailure, code: str, retryable: bool
) -> None:
    reading = Reading(ScriptedConnector([1]), answer)
    failure = reading.fails()
    assert (failure.code, failure.retryable) == (code, retryable)
    assert len(reading.transport.urls) == 1


def test_credentials_that_were_changed_meanwhile_are_to_be_tried() -> None:
    reading = Reading(ScriptedConnector([1]), 401)
    reading.task.credentials_version = 2
    failure = reading.fails()
    assert (failure.code, failure.retryable) == ("credentials_changed", True)


def test_a_page_that_comes_again_fails_the_crawl_for_good() -> None:
    failure = Reading(ScriptedConnector([1, 1], repeat=True)).fails()
    assert (failure.code, failure.retryable) == ("paging_loop", False)


@pytest.mark.parametrize(
    ("capabilities", "age_seconds"),
    [(Capabilities(100, True, False, None), 0.0), (Capabilities(100, True, True, 300.0), 300.001)],
)
def test_a_cursor_that_did_not_survive_starts_the_crawl_again(capabilities: Capabilities, age_seconds: float) -> None:
    token = Cursor("1", NOW).encode()
    connector = ScriptedConnector([1, 1], capabilities=capabilities)
    reading = Reading(connector, checkpoint=Checkpoint(1, token, 1, None), wall=NOW + age_seconds)
    assert reading.fails().code == "cursor_expired"
    assert reading.transport.urls == []


def test_a_cursor_of_another_make_starts_the_crawl_again() -> None:
    reading = Reading(ScriptedConnector([1, 1]), checkpoint=Checkpoint(1, "not ours", 1, None))
    assert reading.fails().code == "cursor_expired"


def test_no_page_for_too_long_gives_up() -> None:
    reading = Reading(ScriptedConnector([1, 1]), 200, 500, 500)
    pages = reading.reader.pages()
    next(pages)
    reading.clock.now += POLICY.progress_timeout_seconds
    with pytest.raises(CrawlFailedError) as caught:
        next(pages)
    assert (caught.value.code, caught.value.retryable) == ("no_progress", True)


def test_just_short_of_too_long_goes_on() -> None:
    reading = Reading(ScriptedConnector([1, 1]))
    pages = reading.reader.pages()
    next(pages)
    reading.clock.now += POLICY.progress_timeout_seconds - 0.001
    assert refs([next(pages)]) == ["1-0"]


@pytest.mark.parametrize(("unusable", "records", "fails"), [(50, 60, False), (51, 254, True), (51, 255, False)])
def test_too_many_rejects_fail_the_crawl(unusable: int, records: int, fails: bool) -> None:
    connector = ScriptedConnector([records], unusable={f"0-{place}": "known" for place in range(unusable)})
    reading = Reading(connector)
    if fails:
        assert reading.fails().code == "too_many_rejects"
    else:
        assert len(reading.pages()[0].rejects) == unusable


def test_told_to_stop_it_ends_after_the_page_in_hand() -> None:
    reading = Reading(ScriptedConnector([1, 1, 1]))
    pages = reading.reader.pages()
    next(pages)
    reading.task.stop.set()
    assert list(pages) == []
    assert len(reading.transport.urls) == 1
