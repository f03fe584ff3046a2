"""The baseline profile: partners with an account on each marketplace, many of them small and a few huge."""

from dataclasses import dataclass
from random import Random

MARKETPLACES = ("bazaar", "harbour", "meridian")
ACCOUNTS = 13 * len(MARKETPLACES)
MEAN_SIZE = 2_000
SMALLEST, LARGEST = 20, 20_000
_FEWEST_WITH_BOTH_ENDS = 13
_HALVINGS = 100


@dataclass(frozen=True)
class SeededAccount:
    """An account of the profile; ``size`` is the number of its listings at the marketplace."""

    partner_code: str
    marketplace_code: str
    account_ref: str
    size: int


def baseline(count: int = ACCOUNTS, scale: float = 1.0, seed: int = 1) -> list[SeededAccount]:
    """``count`` accounts of 2,000 · ``scale`` listings on average, alike for equal arguments on every machine."""
    return [
        SeededAccount(
            partner_code=f"partner-{number // len(MARKETPLACES) + 1:02d}",
            marketplace_code=MARKETPLACES[number % len(MARKETPLACES)],
            account_ref=f"seller-{number // len(MARKETPLACES) + 1:02d}",
            size=size,
        )
        for number, size in enumerate(sizes(count, scale, seed))
    ]


def sizes(count: int, scale: float, seed: int) -> list[int]:
    """``count`` heavy-tailed sizes from 20 to 20,000 (times ``scale``, at least 1) that add up to exactly the mean's.

    A size is smallest · (largest / smallest)^(u^k) for evenly spread u; k is bent until the sum is right, and what
    rounding lost is given back one by one. From 13 accounts on, both ends of the range occur.
    """
    smallest, largest = max(1, round(SMALLEST * scale)), max(1, round(LARGEST * scale))
    total = max(count * smallest, round(MEAN_SIZE * count * scale))
    chance = Random(f"{seed}|sizes")  # noqa: S311 - chance, not secrecy
    places = [(number + chance.random()) / count for number in range(count)]
    if count >= _FEWEST_WITH_BOTH_ENDS:
        places[0], places[-1] = 0.0, 1.0
    chance.shuffle(places)
    exact = _bent(places, smallest, largest / smallest, total)
    found = [int(size) for size in exact]
    losers = sorted(range(count), key=lambda place: found[place] - exact[place])
    for place in losers[: total - sum(found)]:
        found[place] += 1
    return found


def _bent(places: list[float], smallest: int, spread: float, total: int) -> list[float]:
    """The sizes at the bend, between none and far too much, whose sum is the total."""
    least, most = 0.0, 1e6
    for _ in range(_HALVINGS):
        bend = (least + most) / 2
        if sum(smallest * spread ** (place**bend) for place in places) > total:
            least = bend
        else:
            most = bend
    return [smallest * spread ** (place**most) for place in places]
