"""Pages become batches: whole ones together, large ones split, and a checkpoint never ahead of its records."""

from __future__ import annotations

import msgspec
import pytest

from shared.listing import MAX_BATCH_BYTES, MAX_BATCH_REJECTS, Batch, Listing, Reject
from worker.batching import Batcher, Draft, PageRead
from worker.running_task import Checkpoint

START = Checkpoint(0, None, 0, None)


def page(number: int, listings: int, rejects: int = 0, *, guessed: bool = False, attributes: int = 0) -> PageRead:
    """Page ``number`` with so many records; its checkpoint carries its number everywhere."""
    more = {"text": "x" * attributes} if attributes else {}
    return PageRead(
        [Listing(listing_ref=f"{number}-{place}", title="", attributes=more) for place in range(listings)],
        [Reject(reason="no_title", record_ref=f"{number}-r{place}") for place in range(rejects)],
        Checkpoint(number, str(number), number, None),
        guessed,
    )


def batches(batcher: Batcher, *pages: PageRead) -> list[Draft]:
    return [draft for each in pages for draft in batcher.add(each)]


def shape(drafts: list[Draft]) -> list[tuple[int, int]]:
    """Records, and the page that is durable with them."""
    return [(draft.records, draft.checkpoint.current_page) for draft in drafts]


def test_whole_pages_are_flushed_together() -> None:
    batcher = Batcher(START, 100, 500)
    drafts = batches(batcher, *(page(number, 40) for number in range(1, 6)))
    assert shape(drafts) == [(120, 3)]
    rest = batcher.rest()
    assert rest is not None
    assert shape([rest]) == [(80, 5)]
    assert batcher.rest() is None


def test_a_page_that_does_not_fit_in_waits_for_the_next_batch() -> None:
    batcher = Batcher(START, 100, 110)
    assert shape(batches(batcher, page(1, 90), page(2, 90))) == [(90, 1)]
    rest = batcher.rest()
    assert rest is not None
    assert shape([rest]) == [(90, 2)]


@pytest.mark.parametrize(("size", "expected"), [(120, [(50, 0), (50, 0), (20, 1)]), (100, [(50, 0), (50, 1)])])
def test_only_the_last_batch_of_a_split_page_moves_the_checkpoint(size: int, expected: list[tuple[int, int]]) -> None:
    batcher = Batcher(START, 20, 50)
    assert shape(batches(batcher, page(1, size))) == expected


def test_a_split_page_starts_after_what_was_read_before() -> None:
    batcher = Batcher(START, 100, 100)
    assert shape(batches(batcher, page(1, 10), page(2, 150))) == [(10, 1), (100, 1)]
    rest = batcher.rest()
    assert rest is not None
    assert shape([rest]) == [(50, 2)]


def test_no_batch_is_larger_than_its_bytes_allow() -> None:
    batcher = Batcher(START, 500, 500)
    drafts = batches(batcher, page(1, 500, attributes=16_000))
    rest = batcher.rest()
    drafts += [rest] if rest else []
    assert sum(draft.records for draft in drafts) == 500
    assert [draft.checkpoint.current_page for draft in drafts] == [0, 1]
    for draft in drafts:
        body = msgspec.json.encode({"listings": draft.listings, "rejects": draft.rejects, "token": "t" * 4096})
        assert len(body) <= MAX_BATCH_BYTES


def test_small_pages_are_kept_apart_when_they_are_too_heavy_together() -> None:
    batcher = Batcher(START, 500, 500)
    assert shape(batches(batcher, page(1, 200, attributes=16_000), page(2, 200, attributes=16_000))) == [(200, 1)]


def test_rejects_have_a_bound_of_their_own() -> None:
    batcher = Batcher(START, 5000, 5000)
    drafts = batches(batcher, page(1, 0, MAX_BATCH_REJECTS + 1))
    assert shape(drafts) == [(MAX_BATCH_REJECTS, 0)]
    rest = batcher.rest()
    assert rest is not None
    assert (len(rest.rejects), rest.checkpoint.current_page) == (1, 1)


def test_empty_pages_move_the_checkpoint_when_the_crawl_ends() -> None:
    batcher = Batcher(START, 100, 500)
    assert batches(batcher, page(1, 0), page(2, 0)) == []
    rest = batcher.rest()
    assert rest is not None
    assert shape([rest]) == [(0, 2)]


def test_nothing_read_is_nothing_to_flush() -> None:
    batcher = Batcher(Checkpoint(7, "7", 700, None), 100, 500)
    assert batcher.rest() is None
    assert batcher.reached.current_page == 7


def test_a_batch_is_guessed_when_a_page_of_it_was() -> None:
    batcher = Batcher(START, 100, 500)
    drafts = batches(batcher, page(1, 50, guessed=True), page(2, 50), page(3, 100))
    assert [draft.guessed for draft in drafts] == [True, False]


def test_records_go_out_as_they_are() -> None:
    batcher = Batcher(START, 2, 500)
    (draft,) = batches(batcher, page(1, 1, 1))
    body = msgspec.json.encode(
        {
            "server_id": "s",
            "boot_id": "0" * 36,
            "fencing_token": 1,
            "current_page": 1,
            "last_cursor_token": None,
            "processed_count": 2,
            "total_discovered_count": None,
            "cursor_format": "f",
            "listings": draft.listings,
            "rejects": draft.rejects,
        }
    )
    found = msgspec.json.decode(body, type=Batch)
    assert found.listings[0].listing_ref == "1-0"
    assert found.rejects[0].record_ref == "1-r0"
