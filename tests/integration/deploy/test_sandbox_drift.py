"""Catalogues that move while they are read: the sandbox shows what every reader of live pages has to live with."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.deploy.sandbox import CODES, Sandbox, crawl, running

SIZE = 500


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[Sandbox]:
    accounts = [{"marketplace_code": code, "account_ref": "shop", "size": SIZE} for code in CODES]
    with running(tmp_path, {"seed": 3, "accounts": accounts}) as sandbox:
        yield sandbox


def refs(sandbox: Sandbox, code: str) -> set[str]:
    return {listing.listing_ref for listing in sandbox.expected(code, "shop")}


def read(sandbox: Sandbox, code: str) -> list[str]:
    found = crawl(sandbox, sandbox.connectors()[code], sandbox.account(code, "shop"))
    return [listing.listing_ref for listing in found.listings]


@pytest.mark.parametrize("code", ["meridian", "quayside"])
def test_by_cursor_nothing_that_stays_is_missed_or_read_twice(sandbox: Sandbox, code: str) -> None:
    before = refs(sandbox, code)
    sandbox.conduct(code, drift={"every_pages": 1, "vanishes": 20, "appears": 5, "changes": 3, "at": "head"})

    found = read(sandbox, code)

    stayed = before & refs(sandbox, code)
    assert len(stayed) < SIZE
    assert stayed <= set(found)
    assert len(found) == len(set(found))


@pytest.mark.parametrize("code", ["bazaar", "harbour"])
def test_by_number_and_offset_an_insertion_at_the_head_is_read_twice_and_none_is_missed(
    sandbox: Sandbox, code: str
) -> None:
    before = refs(sandbox, code)
    sandbox.conduct(code, drift={"every_pages": 1, "appears": 7, "at": "head"})

    found = read(sandbox, code)

    assert before <= set(found)
    assert len(found) > len(set(found)), "the shift must be seen, or the sandbox simulates nothing"


@pytest.mark.parametrize("code", ["bazaar", "harbour"])
def test_by_number_and_offset_a_deletion_hides_what_moved_and_the_next_crawl_finds_it(
    sandbox: Sandbox, code: str
) -> None:
    sandbox.conduct(code, drift={"every_pages": 1, "vanishes": 7})
    found = set(read(sandbox, code))
    sandbox.conduct(code)

    living = refs(sandbox, code)
    assert living - found, "the shift must be seen, or the sandbox simulates nothing"
    assert set(read(sandbox, code)) == living


@pytest.mark.parametrize("code", CODES)
def test_a_drift_on_order_shows_in_the_expected_catalogue_and_in_the_next_crawl(sandbox: Sandbox, code: str) -> None:
    before = sandbox.expected(code, "shop")
    sandbox.drift(code, "shop", changes=10, vanishes=10, appears=10)

    after = sandbox.expected(code, "shop")

    assert after != before
    found = crawl(sandbox, sandbox.connectors()[code], sandbox.account(code, "shop"))
    assert found.listings == after
