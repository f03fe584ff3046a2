"""The shop is what the crawl's test takes it for; else that test would prove something else."""

from __future__ import annotations

import time

import pytest
import requests

from tests.real.shop_process import Shop, credentials

TIMEOUT_SECONDS = 60

pytestmark = pytest.mark.timeout(600)  # the first test waits for the shop's installation and stock


def page(shop: Shop, partner_code: str, offset: int) -> requests.Response:
    """One page of ten of a partner's products."""
    login = credentials(partner_code)
    return requests.get(
        f"{shop.origin}/api/admin/products/",
        params={"limit": 10, "offset": offset},
        auth=(login["username"], login["password"]),
        timeout=TIMEOUT_SECONDS,
    )


def admitted_page(shop: Shop, partner_code: str, offset: int) -> requests.Response:
    """The same once the shop takes it: a crawl before this test may have used up what it takes."""
    answer = page(shop, partner_code, offset)
    while answer.status_code == 429:
        time.sleep(float(answer.headers["Retry-After"]))
        answer = page(shop, partner_code, offset)
    return answer


def test_a_partner_sees_its_own_products_only(shop: Shop) -> None:
    own = shop.inventory()["partner-2"]
    answer = admitted_page(shop, "partner-2", offset=690)
    assert answer.json()["count"] == len(own) == 700
    assert [product["id"] for product in answer.json()["results"]] == [row["id"] for row in own[690:]]
    assert answer.json()["next"] is None


def test_it_throttles_and_says_for_how_long(shop: Shop) -> None:
    refused = next(answer for answer in (page(shop, "partner-3", 0) for _ in range(100)) if answer.status_code == 429)
    assert 1 <= int(refused.headers["Retry-After"]) <= 10


def test_the_products_are_awkward(shop: Shop) -> None:
    products = [product for partner in shop.inventory().values() for product in partner]
    assert len(products) == 2_100
    assert any("👨‍👩‍👧‍👦" in product["title"] for product in products)
    assert all(product["upc"].startswith("0") for product in products)
    assert any(product["sku"].startswith("000") for product in products)
    assert any(product["price"] is None for product in products)
    assert any((product["price"] or "").endswith(".01") for product in products)
    assert any(not product["is_public"] for product in products)
