"""The profile's sizes: their sum is promised exactly, their range is kept, and the seed decides them."""

import pytest

from deploy.cluster.profile import baseline, sizes


def test_the_baseline_is_the_one_that_the_design_names() -> None:
    accounts = baseline()
    found = [account.size for account in accounts]
    assert len({account.partner_code for account in accounts}) == 13
    assert {account.marketplace_code for account in accounts} == {"bazaar", "harbour", "meridian"}
    assert len({(account.partner_code, account.marketplace_code) for account in accounts}) == 39
    assert (len(found), sum(found), min(found), max(found)) == (39, 78_000, 20, 20_000)


def test_most_accounts_are_small_and_a_few_make_up_most_of_the_listings() -> None:
    found = sorted(sizes(39, 1.0, seed=1))
    assert found[19] < 1_000
    assert sum(found[-8:]) > 78_000 / 2


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(
    ("count", "scale"), [(1, 1.0), (2, 0.01), (12, 1.0), (13, 1.0), (39, 0.1), (39, 3.0), (200, 1.0)]
)
def test_sizes_add_up_within_the_range(count: int, scale: float, seed: int) -> None:
    found = sizes(count, scale, seed)
    assert len(found) == count
    assert sum(found) == round(2_000 * count * scale)
    assert min(found) >= max(1, round(20 * scale))
    assert max(found) <= round(20_000 * scale)


def test_a_seed_always_means_the_same_and_another_one_something_else() -> None:
    assert baseline(39, 1.0, 7) == baseline(39, 1.0, 7)
    assert sizes(39, 1.0, 7) != sizes(39, 1.0, 8)
