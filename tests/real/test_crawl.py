"""The whole cluster, of real processes, crawls a shop that was not written for it; every record is compared."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from deploy.cluster.cluster import DATABASE, Cluster
from deploy.cluster.watching import Watch
from shared.problems import Problem
from shared.states import Role
from tests.integration.mysql import programs
from tests.real.shop_process import Shop, credentials
from worker.client import CoordinatorUnreachableError

DESCRIPTIONS = Path(__file__).parent / "descriptions"
SERVERS = ("server-1", "server-2")
CRAWL_SECONDS = 240

pytestmark = pytest.mark.timeout(900)


def import_file(folder: Path, partners: list[str]) -> Path:
    """The document that makes the partners' accounts known to the coordinator."""
    accounts = [
        {"partner": code, "marketplace": "oscar", "account_ref": code, "credentials": credentials(code)}
        for code in partners
    ]
    file = folder / "accounts.json"
    file.write_text(json.dumps({"marketplaces": [{"code": "oscar", "name": "Oscar"}], "accounts": accounts}))
    return file


def start(cluster: Cluster, shop: Shop, partners: list[str]) -> Watch:
    """MySQL, the coordinator with the partners' accounts, and two servers that know the shop."""
    cluster.start_database()
    cluster.start_coordinator()
    cluster.command("accounts", "import", str(import_file(cluster.folder, partners)))
    for server_id in SERVERS:
        cluster.start_server(server_id, cluster.issue_key(server_id), {"oscar": shop.origin}, DESCRIPTIONS)
    return Watch(cluster.client("viewer", cluster.issue_key("viewer", Role.VIEWER)))


def await_crawled(cluster: Cluster, watch: Watch, accounts: int) -> None:
    """Wait until so many accounts have been crawled. Fails when a server ends, a crawl fails or time is over."""
    ends_at = time.monotonic() + CRAWL_SECONDS
    seen: object = None
    while time.monotonic() < ends_at:
        for child in [*cluster.core, *cluster.servers.values()]:
            child.check()
        try:
            seen = snapshot = watch.look()
            if snapshot.accounts_crawled == accounts:
                return
        except (Problem, CoordinatorUnreachableError) as error:
            seen = error
        time.sleep(0.2)
    pytest.fail(f"not crawled within {CRAWL_SECONDS} s; the last seen of the cluster is {seen}")


def stored(cluster: Cluster) -> dict[str, list[dict[str, Any]]]:
    """What the database holds, by partner code, as the shop's inventory says it."""
    found: dict[str, list[dict[str, Any]]] = {}
    with cluster.mysql.connect(DATABASE) as connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT a.account_ref, l.listing_ref, l.barcode, l.title, l.status, l.sku, l.price, l.currency, l.quantity,"
            " l.attributes FROM listings l JOIN accounts a USING (account_id) ORDER BY CAST(l.listing_ref AS UNSIGNED)"
        )
        for row in cursor.fetchall():
            found.setdefault(row["account_ref"], []).append(
                {
                    "id": int(row["listing_ref"]),
                    "upc": row["barcode"],
                    "title": row["title"],
                    "is_public": row["status"] == "active",
                    "sku": row["sku"],
                    "price": row["price"],
                    "currency": row["currency"],
                    "quantity": row["quantity"],
                    **json.loads(row["attributes"]),
                }
            )
    return found


def expected(shop: Shop) -> dict[str, list[dict[str, Any]]]:
    """The shop's own database, prices as numbers."""
    return {
        code: [{**row, "price": None if row["price"] is None else Decimal(row["price"])} for row in rows]
        for code, rows in shop.inventory().items()
    }


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A cluster that has not started anything yet, and leaves nothing running."""
    folder = programs()
    if folder is None:
        pytest.skip("no MySQL 8.0.19 or later is installed: deploy/bootstrap installs a private one")
    with Cluster(tmp_path / "cluster", folder) as made:
        yield made


def test_every_record_equals_the_shops_own_database(shop: Shop, cluster: Cluster) -> None:
    catalogue = expected(shop)
    throttled_before = shop.answers(429)
    await_crawled(cluster, start(cluster, shop, sorted(catalogue)), len(catalogue))
    found = stored(cluster)
    with cluster.mysql.connect(DATABASE) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) AS rejects FROM listing_rejects")
        assert cursor.fetchone() == {"rejects": 0}
        cursor.execute("SELECT DISTINCT state, enumeration, attempts FROM crawl_tasks")
        assert list(cursor.fetchall()) == [{"state": "completed", "enumeration": "proven", "attempts": 0}]
        cursor.execute("SELECT COUNT(DISTINCT server_id) AS servers FROM task_claims")
        assert cursor.fetchone() == {"servers": len(SERVERS)}
    assert found.keys() == catalogue.keys()
    for code, rows in catalogue.items():
        different = [(there, own) for there, own in zip(found[code], rows, strict=False) if there != own]
        assert not different, f"{code}: {len(different)} records differ, such as {different[0]}"
        assert len(found[code]) == len(rows)
    assert shop.answers(429) > throttled_before, "the shop throttled nobody: the test has not tried what it is for"
