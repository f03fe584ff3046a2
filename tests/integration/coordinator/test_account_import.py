"""Importing accounts: whole or not at all, the same again changes nothing, credentials never lie open."""

from __future__ import annotations

import copy
import json
from decimal import Decimal
from typing import Any

import pytest

from coordinator import account_import, credentials
from coordinator.account_import import Imported
from coordinator.database import Database
from coordinator.vault import Vault
from shared.problems import InvalidInput
from tests.integration.clock import START, Clock
from tests.integration.coordinator.acting import VAULT
from tests.integration.coordinator.commanding import OPERATOR
from tests.integration.coordinator.instants import seconds
from tests.integration.seed import Seed
from tests.integration.waits import together

SECRET = "s3cret-and-seen-nowhere"
DOCUMENT: dict[str, Any] = {
    "marketplaces": [
        {"code": "shopify", "name": "Shopify", "quota_per_server": 0.5, "yields": False},
        {"code": "trendyol"},
    ],
    "partners": [{"code": "acme", "name": "Acme Ltd"}],
    "accounts": [
        {
            "partner": "acme",
            "marketplace": "shopify",
            "account_ref": "seller-7 🛒",
            "settings": {"shop": "7"},
            "credentials": {"token": SECRET},
            "refresh_interval_seconds": 3600,
        },
        {"partner": "globex", "marketplace": "trendyol", "account_ref": "0042"},
    ],
}


class Importing:
    """Imports into the test's database."""

    def __init__(self, database: Database, vault: Vault = VAULT) -> None:
        self.database, self.vault = database, vault

    def __call__(self, document: dict[str, Any]) -> Imported:
        return self.database.transaction(lambda tx: account_import.run(tx, self.vault, document, OPERATOR))


@pytest.fixture
def importing(database: Database, clock: Clock) -> Importing:
    return Importing(database)


def changed(path: str, value: Any) -> dict[str, Any]:
    """The document with one member changed, such as ``accounts.0.settings``; ``...`` removes it."""
    document = copy.deepcopy(DOCUMENT)
    *parents, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    place: Any = document
    for step in parents:
        place = place[step]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return document


def everything(seed: Seed) -> list[Any]:
    tables = ("marketplaces", "partners", "accounts", "account_credentials", "audit_log")
    return [seed.rows(f"SELECT * FROM {table}") for table in tables]


class TestFirst:
    def test_all_that_is_named_is_created(self, importing: Importing, seed: Seed) -> None:
        assert importing(DOCUMENT) == Imported(created=2, changed=0, unchanged=0)
        shopify = seed.row("marketplaces", marketplace_code="shopify")
        assert (shopify["name"], shopify["quota_per_server"], shopify["yields"]) == ("Shopify", Decimal("0.50"), 0)
        trendyol = seed.row("marketplaces", marketplace_code="trendyol")
        assert (trendyol["name"], trendyol["quota_per_server"], trendyol["yields"]) == ("trendyol", Decimal(1), 1)
        assert seed.row("partners", partner_code="acme")["name"] == "Acme Ltd"
        assert seed.row("partners", partner_code="globex")["name"] == "globex"
        account = seed.row("accounts", account_ref="seller-7 🛒")
        assert (json.loads(account["settings"]), account["refresh_interval_seconds"]) == ({"shop": "7"}, 3600)
        assert (account["next_due_at"], account["created_at"], account["size"]) == (START, START, None)
        other = seed.row("accounts", account_ref="0042")
        assert (json.loads(other["settings"]), other["refresh_interval_seconds"]) == ({}, 86_400)
        assert seed.count("account_credentials") == 1

    def test_credentials_are_sealed_for_their_account(self, importing: Importing, seed: Seed) -> None:
        importing(DOCUMENT)
        row = seed.row("account_credentials")
        assert row["version"] == 1
        assert SECRET.encode() not in row["secret_sealed"]
        assert credentials.opened(VAULT, row["account_id"], row) == {"token": SECRET}

    def test_it_is_audited_without_anything_secret(self, importing: Importing, seed: Seed) -> None:
        importing(DOCUMENT)
        entries = seed.rows("SELECT * FROM audit_log ORDER BY audit_id")
        assert [entry["action"] for entry in entries] == [
            *["marketplace.import"] * 2,
            *["partner.import"] * 2,
            *["account.import"] * 2,
        ]
        assert {entry["actor"] for entry in entries} == {"operator-1"}
        assert SECRET not in str(entries)

    def test_nothing_to_import_is_no_mistake(self, importing: Importing) -> None:
        assert importing({}) == Imported(created=0, changed=0, unchanged=0)


class TestAgain:
    def test_the_same_document_changes_nothing(self, importing: Importing, seed: Seed, clock: Clock) -> None:
        importing(DOCUMENT)
        before = everything(seed)
        clock.advance(seconds=60)
        assert importing(DOCUMENT) == Imported(created=0, changed=0, unchanged=2)
        assert everything(seed) == before

    @pytest.mark.parametrize(
        ("path", "value", "column", "stored"),
        [
            ("accounts.0.settings", {"shop": "8"}, "settings", '{"shop": "8"}'),
            ("accounts.0.refresh_interval_seconds", 7200, "refresh_interval_seconds", 7200),
        ],
    )
    def test_what_differs_is_changed(
        self, importing: Importing, seed: Seed, path: str, value: Any, column: str, stored: Any
    ) -> None:
        importing(DOCUMENT)
        before = seed.row("accounts", account_ref="seller-7 🛒")
        assert importing(changed(path, value)) == Imported(created=0, changed=1, unchanged=1)
        after = seed.row("accounts", account_ref="seller-7 🛒")
        assert after == {**before, column: stored, "row_version": before["row_version"] + 1}
        assert seed.row("account_credentials")["version"] == 1

    @pytest.mark.parametrize("member", ["settings", "credentials", "refresh_interval_seconds"])
    def test_what_is_left_out_stays(self, importing: Importing, seed: Seed, member: str) -> None:
        importing(DOCUMENT)
        before = everything(seed)
        assert importing(changed(f"accounts.0.{member}", ...)).unchanged == 2
        assert everything(seed) == before

    def test_a_marketplace_is_changed(self, importing: Importing, seed: Seed) -> None:
        importing(DOCUMENT)
        importing({"marketplaces": [{"code": "shopify", "quota_per_server": 2}]})
        row = seed.row("marketplaces", marketplace_code="shopify")
        assert (row["name"], row["quota_per_server"], row["yields"], row["row_version"]) == ("Shopify", 2, 0, 2)

    def test_a_partner_is_renamed_but_not_by_accounts(self, importing: Importing, seed: Seed) -> None:
        importing(DOCUMENT)
        importing({"accounts": DOCUMENT["accounts"]})
        assert seed.row("partners", partner_code="acme")["name"] == "Acme Ltd"
        importing({"partners": [{"code": "acme", "name": "Acme Inc"}]})
        assert seed.row("partners", partner_code="acme")["name"] == "Acme Inc"


class TestCredentials:
    def test_new_ones_get_a_version_and_lift_a_suspension(self, importing: Importing, seed: Seed, clock: Clock) -> None:
        importing(DOCUMENT)
        seed.execute("UPDATE accounts SET suspended_at = %s", START)
        clock.advance(seconds=60)
        assert importing(changed("accounts.0.credentials", {"token": "new"})).changed == 1
        row = seed.row("account_credentials")
        assert (row["version"], row["updated_at"]) == (2, START + seconds(60))
        assert credentials.opened(VAULT, row["account_id"], row) == {"token": "new"}
        assert seed.row("accounts", account_ref="seller-7 🛒")["suspended_at"] is None
        assert seed.row("accounts", account_ref="0042")["suspended_at"] == START

    def test_the_same_ones_lift_no_suspension(self, importing: Importing, seed: Seed) -> None:
        importing(DOCUMENT)
        seed.execute("UPDATE accounts SET suspended_at = %s", START)
        importing(changed("accounts.0.settings", {"shop": "9"}))
        assert seed.row("accounts", account_ref="seller-7 🛒")["suspended_at"] == START

    def test_ones_that_do_not_open_any_more_are_replaced(self, database: Database, seed: Seed, clock: Clock) -> None:
        Importing(database)(DOCUMENT)
        other = Importing(database, Vault({2: bytes(range(32, 64))}))
        assert other(DOCUMENT).changed == 1
        row = seed.row("account_credentials")
        assert (row["version"], row["encryption_version"]) == (2, 2)


class TestRefusals:
    @pytest.mark.parametrize(
        ("path", "value", "named"),
        [
            ("accounts.1.marketplace", "nowhere", "accounts.1.marketplace"),
            ("accounts.1.marketplace", ..., "accounts.1.marketplace"),
            ("accounts.1.account_ref", "", "accounts.1.account_ref"),
            ("accounts.1.account_ref", "x" * 129, "accounts.1.account_ref"),
            ("accounts.1.account_ref", "half \ud83d", "accounts.1.account_ref"),
            ("accounts.1.account_ref", 42, "accounts.1.account_ref"),
            ("accounts.1.partner", "No Spaces", "accounts.1.partner"),
            ("accounts.1.settings", [], "accounts.1.settings"),
            ("accounts.1.settings", {"x": "y" * 20_000}, "accounts.1.settings"),
            ("accounts.1.settings", {"x": "\ud83d"}, "accounts.1.settings"),
            ("accounts.1.credentials", {"token": 7}, "accounts.1.credentials.token.value"),
            ("accounts.1.refresh_interval_seconds", 0, "accounts.1.refresh_interval_seconds"),
            ("accounts.1.refresh_interval_seconds", "3600", "accounts.1.refresh_interval_seconds"),
            ("accounts.1.refresh_interval_seconds", 10**12, "accounts.1.refresh_interval_seconds"),
            ("accounts.1.price", 1, "accounts.1.price"),
            ("accounts.1", "not an object", "accounts.1"),
            ("accounts", {}, "accounts"),
            ("accounts.1", DOCUMENT["accounts"][0], "accounts.1"),
            ("marketplaces.1.code", "Trendyol!", "marketplaces.1.code"),
            ("marketplaces.1.code", "shopify", "marketplaces.1"),
            ("marketplaces.1.quota_per_server", 0, "marketplaces.1.quota_per_server"),
            ("marketplaces.1.quota_per_server", 0.333, "marketplaces.1.quota_per_server"),
            ("marketplaces.1.quota_per_server", 100, "marketplaces.1.quota_per_server"),
            ("marketplaces.1.yields", "yes", "marketplaces.1.yields"),
            ("partners.0.name", "", "partners.0.name"),
            ("other", [], "other"),
        ],
    )
    def test_what_cannot_be_taken_is_named_and_nothing_is_written(
        self, importing: Importing, seed: Seed, path: str, value: Any, named: str
    ) -> None:
        before = everything(seed)
        with pytest.raises(InvalidInput) as caught:
            importing(changed(path, value) if path != "other" else {**DOCUMENT, "other": value})
        assert named in caught.value.members["errors"]
        assert named in caught.value.detail
        assert everything(seed) == before

    def test_all_mistakes_are_named_at_once(self, importing: Importing) -> None:
        document = changed("accounts.0.account_ref", "")
        document["accounts"][1]["refresh_interval_seconds"] = -1
        with pytest.raises(InvalidInput) as caught:
            importing(document)
        assert set(caught.value.members["errors"]) == {"accounts.0.account_ref", "accounts.1.refresh_interval_seconds"}

    def test_credentials_are_refused_without_being_shown(self, importing: Importing, seed: Seed) -> None:
        most = {"a": "x" * 8_000, "b": "x" * 7_985}
        importing(changed("accounts.0.credentials", most))
        with pytest.raises(InvalidInput) as caught:
            importing(changed("accounts.0.credentials", {**most, "b": "x" * 7_986}))
        assert list(caught.value.members["errors"]) == ["accounts.0.credentials"]
        assert "xxx" not in caught.value.detail


@pytest.mark.parametrize("known", [False, True], ids=["all new", "new accounts only"])
def test_imports_at_once_make_each_account_once(importing: Importing, seed: Seed, known: bool) -> None:
    if known:
        importing({**DOCUMENT, "partners": [{"code": "acme", "name": "Acme Ltd"}, {"code": "globex"}], "accounts": []})
    answers = together(*[lambda: importing(DOCUMENT)] * 4)
    assert all(isinstance(answer, Imported) for answer in answers), answers
    assert seed.count("accounts") == 2
    assert seed.count("partners") == 2
    assert seed.count("account_credentials") == 1
