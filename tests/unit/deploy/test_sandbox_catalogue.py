"""The sandbox's catalogues: pure functions of a seed, and exact while things appear, change and vanish."""

import itertools

import pytest

from deploy.sandbox.catalogue import Catalogue, Drift
from deploy.sandbox.items import Item, Maker

MAKER = Maker(7, "bazaar", "shop-1")


def numbers(items: list[Item]) -> list[int]:
    return [item.number for item in items]


def walk(catalogue: Catalogue, limit: int) -> list[Item]:
    items: list[Item] = []
    place: int | None = None
    while True:
        found, place = catalogue.after(place, limit)
        items += found
        if place is None:
            return items


def test_equal_seeds_make_equal_items_and_others_make_others() -> None:
    assert MAKER.item(5, 1) == Maker(7, "bazaar", "shop-1").item(5, 1)
    others = [Maker(8, "bazaar", "shop-1"), Maker(7, "harbour", "shop-1"), Maker(7, "bazaar", "shop-2")]
    assert all(other.item(5, 1) != MAKER.item(5, 1) for other in others)


def test_a_version_changes_content_but_never_identity() -> None:
    old, new = MAKER.item(4, 0), MAKER.item(4, 1)

    assert (old.number, old.sku, old.barcode, old.title) == (new.number, new.sku, new.barcode, new.title)
    assert old != new


def test_any_twenty_neighbours_have_every_oddity() -> None:
    for start in (0, 93, -40):
        items = [MAKER.item(index) for index in range(start, start + 20)]
        assert any(len(item.title) > 512 for item in items)
        assert any(ord(character) > 0xFFFF for item in items for character in item.title)
        assert any(item.price is None for item in items)
        assert any(item.price is not None and item.price >= 1000 for item in items)
        assert any(item.barcode is None for item in items)
        assert any(item.barcode is not None and item.barcode.startswith("00") for item in items)
        assert any(item.quantity is None for item in items)


@pytest.mark.parametrize("size", [0, 1, 20, 101])
@pytest.mark.parametrize("limit", [1, 7, 100])
def test_pages_and_walks_are_the_whole_catalogue(size: int, limit: int) -> None:
    catalogue = Catalogue(MAKER, size)
    paged = list(itertools.chain(*(catalogue.page(offset, limit) for offset in range(0, size, limit))))

    assert catalogue.count() == size
    assert paged == walk(catalogue, limit) == list(catalogue.items()) == [MAKER.item(index) for index in range(size)]


def test_a_walk_ends_without_an_empty_page() -> None:
    assert Catalogue(MAKER, 20).after(9, 10)[1] is None


def test_drift_is_exact_and_repeatable() -> None:
    catalogue, twin = Catalogue(MAKER, 50), Catalogue(MAKER, 50)
    before = {item.number: item for item in catalogue.items()}
    for living in (catalogue, twin):
        living.drift(Drift(vanishes=10))
        living.drift(Drift(appears=3, at="head"))
        living.drift(Drift(appears=2, at="tail"))
        living.drift(Drift(changes=5))

    after = {item.number: item for item in catalogue.items()}
    assert list(catalogue.items()) == list(twin.items())
    assert catalogue.count() == len(after) == 45
    assert len(before.keys() - after.keys()) == 10
    assert sorted(after.keys() - before.keys()) == [499_997, 499_998, 499_999, 500_050, 500_051]
    assert 1 <= sum(before[number] != after[number] for number in before.keys() & after.keys()) <= 5


def test_pages_skip_what_vanished() -> None:
    catalogue = Catalogue(MAKER, 30)
    catalogue.drift(Drift(vanishes=12))
    living = numbers(list(catalogue.items()))

    assert len(living) == 18
    for offset in range(19):
        assert numbers(catalogue.page(offset, 5)) == living[offset : offset + 5]
    assert numbers(walk(catalogue, 4)) == living


def test_a_place_stays_valid_when_its_item_vanishes() -> None:
    catalogue = Catalogue(MAKER, 10)
    found, place = catalogue.after(None, 4)
    catalogue.drift(Drift(vanishes=9))
    (last,) = numbers(list(catalogue.items()))

    rest, _ = catalogue.after(place, 100)

    assert numbers(rest) == ([last] if last > found[-1].number else [])


def test_a_drift_larger_than_the_catalogue_empties_it() -> None:
    catalogue = Catalogue(MAKER, 3)
    catalogue.drift(Drift(vanishes=10, changes=1))

    assert (catalogue.count(), catalogue.page(0, 10), catalogue.after(None, 10)) == (0, [], ([], None))
    catalogue.drift(Drift(changes=2))
