"""The command ``worker check``: it names what is wrong, all of it, and with what to do about it."""

from __future__ import annotations

import base64
import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from shared.problems import SignatureInvalid
from tests.unit.worker.scripted_server import ScriptedServer, answer
from worker.cli import main

DESCRIPTIONS = Path(__file__).parents[3] / "deploy" / "sandbox" / "marketplaces"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A key and the description of one marketplace."""
    (tmp_path / "key").write_bytes(base64.b64encode(b"k" * 32))
    (tmp_path / "key").chmod(0o400)
    (tmp_path / "connectors").mkdir()
    shutil.copy(DESCRIPTIONS / "harbour.toml", tmp_path / "connectors")
    return tmp_path


def run(verb: str, folder: Path, coordinator: str, **more: str) -> Result:
    settings = {
        "ENVIRONMENT": "development",
        "WORKER_SERVER_ID": "server-1",
        "WORKER_KEY_FILE": str(folder / "key"),
        "WORKER_COORDINATOR": coordinator,
        "WORKER_CONNECTORS": str(folder / "connectors"),
        "WORKER_STATE_FOLDER": str(folder / "state"),
        "WORKER_ORIGINS": json.dumps({"harbour": "http://127.0.0.1:9"}),
    }
    return CliRunner().invoke(main, [verb], env={**settings, **more})


def test_all_is_well_where_descriptions_are_and_the_key_is_accepted(folder: Path) -> None:
    with ScriptedServer(answer()) as server:
        result = run("check", folder, server.url)
    assert (result.exit_code, result.output) == (0, "all is well: worker run can start, for harbour\n")


def test_a_key_that_is_refused_is_named(folder: Path) -> None:
    refused = SignatureInvalid("There is no such key")
    with ScriptedServer(answer(401, json.dumps(refused.to_document()).encode())) as server:
        result = run("check", folder, server.url)
    assert result.exit_code == 1
    assert "it refuses the key server-1: There is no such key" in result.output


def test_descriptions_and_a_coordinator_that_is_away_are_named_at_once(folder: Path) -> None:
    (folder / "connectors" / "broken.toml").write_text("code = ")
    result = run("check", folder, "http://127.0.0.1:9")
    assert result.exit_code == 1
    assert "broken.toml" in result.output
    assert "coordinator: http://127.0.0.1:9 cannot be reached" in result.output


@pytest.mark.parametrize("verb", ["check", "run"])
def test_production_asks_no_marketplace_by_plain_http(folder: Path, verb: str) -> None:
    result = run(verb, folder, "https://127.0.0.1:9", ENVIRONMENT="production")
    assert result.exit_code == 1
    assert "origins: production speaks https only: give harbour an https origin" in result.output
    assert not (folder / "state").exists()
