"""The shop for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real.shop_process import Shop, ShopUnavailable, environment, open_shop

CHECKOUT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """A shop with three partners of 700 products each."""
    try:
        python = environment(CHECKOUT / ".local" / "shop")
    except ShopUnavailable as error:
        pytest.skip(f"the shop's packages cannot be installed: {error}")
    with open_shop(python, tmp_path_factory.mktemp("shop"), partners=3, products=700) as opened:
        yield opened
