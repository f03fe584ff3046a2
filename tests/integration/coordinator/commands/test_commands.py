"""What each command says and does, and how it refuses: a sentence and status 1, never a traceback."""

from __future__ import annotations

import base64
import json
import stat
from pathlib import Path
from typing import Any

import pytest

from coordinator import keys
from coordinator.database import Database
from coordinator.vault import Vault, read_key_file, signing_key_binding
from tests.integration.coordinator.commands.conftest import Command
from tests.integration.seed import Seed

DOCUMENT: dict[str, Any] = {
    "marketplaces": [{"code": "shopify", "name": "Shopify"}],
    "accounts": [
        {
            "partner": "acme",
            "marketplace": "shopify",
            "account_ref": "shop-1",
            "credentials": {"token": "a secret token"},
        }
    ],
}


def test_check_finds_all_well(coordinator: Command, applied: None) -> None:
    result = coordinator("check")
    assert (result.exit_code, "all is well" in result.output) == (0, True), result.output


def test_check_names_all_settings_at_once(coordinator: Command) -> None:
    result = coordinator("check", COORDINATOR_ORIGIN="", COORDINATOR_LOG_LEVEL="loud")
    assert result.exit_code == 1
    assert "origin" in result.output
    assert "log_level" in result.output


@pytest.mark.parametrize(
    ("environ", "named"),
    [
        ({"COORDINATOR_DATABASE_NAME": "mysql"}, "schema apply"),
        ({"COORDINATOR_DATABASE_SOCKET": "", "COORDINATOR_DATABASE_PORT": "1"}, "cannot be reached"),
        ({"COORDINATOR_KEY_FILE": "/nonexistent"}, "key_file"),
    ],
)
def test_check_names_what_is_missing(coordinator: Command, applied: None, environ: dict[str, str], named: str) -> None:
    result = coordinator("check", **environ)
    assert (result.exit_code, named in result.output) == (1, True), result.output


def test_check_names_drift_and_a_policy_that_contradicts_itself(
    coordinator: Command, applied: None, seed: Seed
) -> None:
    body = '{"leader_heartbeat_seconds": 100}'
    seed.insert("policy", policy_id=1, version=1, digest="d", body=body, updated_at=seed.now(), updated_by="t")
    assert "leader_heartbeat_seconds" in coordinator("check").output
    seed.execute("ALTER TABLE accounts ADD INDEX drifted (size)")
    try:
        result = coordinator("check")
    finally:
        seed.execute("ALTER TABLE accounts DROP INDEX drifted")
    assert (result.exit_code, "accounts.drifted" in result.output) == (1, True)


def test_a_key_is_issued_listed_and_revoked(coordinator: Command, database: Database, key_file: Path) -> None:
    issued = coordinator("keys", "issue", "--owner", "server-1")
    assert issued.exit_code == 0, issued.output
    secret = base64.b64decode(issued.stdout)
    stored = database.transaction(lambda tx: keys.find(tx, "server-1"))
    assert stored
    vault = Vault(read_key_file(key_file, private=True))
    assert vault.open(stored.sealed, signing_key_binding("server-1", "server-1")) == secret
    assert "in force" in coordinator("keys", "list").output
    assert coordinator("keys", "revoke", "server-1").exit_code == 0
    listed = coordinator("keys", "list").output
    assert "revoked" in listed
    assert issued.stdout.strip() not in listed
    again = coordinator("keys", "revoke", "server-1")
    assert (again.exit_code, "no key server-1 in force" in again.output) == (1, True)


def test_a_secret_goes_to_a_file_that_nobody_else_can_read(coordinator: Command, tmp_path: Path) -> None:
    file = tmp_path / "secret"
    result = coordinator("keys", "issue", "--owner", "ann", "--role", "operator", "--out", str(file))
    assert result.exit_code == 0, result.output
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert len(base64.b64decode(file.read_text())) == 32
    assert file.read_text().strip() not in result.output


def test_a_key_that_is_refused_leaves_no_file(coordinator: Command, tmp_path: Path, seed: Seed) -> None:
    coordinator("keys", "issue", "--owner", "server-1")
    file = tmp_path / "secret"
    result = coordinator("keys", "issue", "--owner", "server-1", "--out", str(file))
    assert (result.exit_code, "choose another" in result.output) == (1, True)
    assert not file.exists()
    assert seed.count("signing_keys") == 1


def test_a_file_that_exists_is_not_overwritten(coordinator: Command, tmp_path: Path, seed: Seed) -> None:
    file = tmp_path / "secret"
    file.write_text("kept")
    result = coordinator("keys", "issue", "--owner", "server-1", "--out", str(file))
    assert (result.exit_code, file.read_text(), seed.count("signing_keys")) == (1, "kept", 0)
    assert str(file) in result.output


def test_the_policy_is_shown_and_set(coordinator: Command) -> None:
    before = json.loads(coordinator("policy", "show", "--json").output)
    assert before["slots_per_server"] == 3
    assert coordinator("policy", "set", "slots_per_server=5", 'must_understand=["x"]').exit_code == 0
    after = json.loads(coordinator("policy", "show", "--json").output)
    assert (after["slots_per_server"], after["must_understand"]) == (5, ["x"])
    assert "policy version 1" in coordinator("policy", "show").output


@pytest.mark.parametrize(
    ("assignment", "named", "status"),
    [
        ("leader_heartbeat_seconds=100", "leader_heartbeat_seconds", 1),
        ("nothing_like_it=1", "nothing_like_it", 1),
        ("slots_per_server", "NAME=VALUE", 2),
        ("slots_per_server=five", "five", 2),
    ],
)
def test_a_bad_policy_is_refused_by_name(
    coordinator: Command, seed: Seed, assignment: str, named: str, status: int
) -> None:
    result = coordinator("policy", "set", assignment)
    assert (result.exit_code, named in result.output) == (status, True), result.output
    assert seed.count("policy") == 0


def test_accounts_are_imported_from_json_and_listed(coordinator: Command, tmp_path: Path, seed: Seed) -> None:
    file = tmp_path / "accounts.json"
    file.write_text(json.dumps(DOCUMENT))
    assert "1 created" in coordinator("accounts", "import", str(file)).output
    assert "1 unchanged" in coordinator("accounts", "import", str(file)).output
    listed = coordinator("accounts", "list").output
    assert "acme" in listed
    assert "shop-1" in listed
    assert "secret token" not in listed
    assert seed.count("account_credentials") == 1


def test_accounts_are_imported_from_csv(coordinator: Command, tmp_path: Path, seed: Seed) -> None:
    seed.marketplace("shopify")
    file = tmp_path / "accounts.csv"
    file.write_text(
        "partner,marketplace,account_ref,refresh_interval_seconds,settings.shop,credentials.token\n"
        'acme,shopify,0001,3600,"a, b",t\n'
        "acme,shopify,0002,,,\n"
    )
    result = coordinator("accounts", "import", str(file))
    assert "2 created" in result.output, result.output
    account = seed.row("accounts", account_ref="0001")
    assert (json.loads(account["settings"]), account["refresh_interval_seconds"]) == ({"shop": "a, b"}, 3600)
    assert seed.row("accounts", account_ref="0002")["refresh_interval_seconds"] == 86_400
    assert seed.count("account_credentials") == 1


@pytest.mark.parametrize(
    ("name", "content", "named"),
    [
        ("x.json", b"{", "no JSON object"),
        ("x.json", b"[]", "no JSON object"),
        ("x.json", b"\xff", "UTF-8"),
        ("x.json", b'{"accounts": [{"partner": "a"}]}', "accounts.0.marketplace"),
        ("x.json", b'{"surprise": 1}', "surprise"),
        ("x.csv", b"", "column partner is missing"),
        ("x.csv", b"partner,marketplace,account_ref,colour\n", "'colour' is not known"),
        ("x.csv", b"partner,partner,marketplace,account_ref\n", "named twice"),
        ("x.csv", b"partner,marketplace,account_ref\na,b\n", "line 2"),
        ("x.csv", b"partner,marketplace,account_ref\na,b,c,d\n", "line 2"),
        ("x.csv", b'partner,marketplace,account_ref\n"a,b,c\n', "no CSV"),
        ("x.csv", b"partner,marketplace,account_ref,refresh_interval_seconds\na,shopify,c,soon\n", "refresh_interval"),
    ],
)
def test_a_file_with_mistakes_is_refused_wholly(
    coordinator: Command, seed: Seed, tmp_path: Path, name: str, content: bytes, named: str
) -> None:
    seed.marketplace("shopify")
    file = tmp_path / name
    file.write_bytes(content)
    result = coordinator("accounts", "import", str(file))
    assert (result.exit_code, named in result.output) == (1, True), result.output
    assert seed.count("accounts") == seed.count("partners") == seed.count("audit_log") == 0


def test_status_shows_the_cluster_on_one_screen(coordinator: Command, seed: Seed) -> None:
    account = seed.account("shopify", size=50)
    seed.server("server-1")
    seed.task(account, "running", server_id="server-1")
    seed.leader("server-1")
    result = coordinator("status")
    assert result.exit_code == 0, result.output
    for shown in ("server-1, lease ends in", "1 of 3 running", "1 running", "acme shopify"):
        assert shown in result.output, result.output


def test_a_schema_is_verified(coordinator: Command, seed: Seed) -> None:
    assert "what schema.sql says" in coordinator("schema", "verify").output
    seed.execute("ALTER TABLE accounts ADD INDEX drifted (size)")
    try:
        result = coordinator("schema", "verify")
    finally:
        seed.execute("ALTER TABLE accounts DROP INDEX drifted")
    assert (result.exit_code, "accounts.drifted" in result.output) == (1, True)


def test_a_schema_is_applied(coordinator: Command, seed: Seed) -> None:
    seed.execute("DROP DATABASE IF EXISTS command_test")
    try:
        first = coordinator("schema", "apply", COORDINATOR_DATABASE_NAME="command_test")
        again = coordinator("schema", "apply", COORDINATOR_DATABASE_NAME="command_test")
        check = coordinator("check", COORDINATOR_DATABASE_NAME="command_test")
    finally:
        seed.execute("DROP DATABASE IF EXISTS command_test")
    assert ("created the schema" in first.output, again.exit_code, check.exit_code) == (True, 0, 0), first.output
