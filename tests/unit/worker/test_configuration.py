"""Settings from variables and a file; every problem at once, each with its remedy."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path

import pytest

from worker.configuration import Configuration, ConfigurationError, load

SECRET = bytes(range(32))


class Setting:
    """A folder with what settings name, and the settings."""

    def __init__(self, folder: Path) -> None:
        self.key_file = folder / "key"
        self.key_file.write_bytes(base64.b64encode(SECRET) + b"\n")
        self.key_file.chmod(0o400)
        self.connectors = folder / "connectors"
        self.connectors.mkdir()
        self.authority = folder / "ca.pem"
        self.authority.touch()
        self.file = folder / "worker.toml"
        self.variables = {
            "WORKER_SERVER_ID": "server-1",
            "WORKER_KEY_FILE": str(self.key_file),
            "WORKER_COORDINATOR": "https://coordinator.example/prefix",
            "WORKER_CONNECTORS": str(self.connectors),
        }

    def load(self, **changes: str) -> Configuration:
        return load({**self.variables, **changes})

    def problems(self, **changes: str) -> list[str]:
        with pytest.raises(ConfigurationError) as caught:
            self.load(**changes)
        return caught.value.problems


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    return Setting(tmp_path)


def test_few_settings_are_needed(setting: Setting) -> None:
    found = setting.load()
    assert (found.server_id, found.key_id, found.secret) == ("server-1", "server-1", SECRET)
    assert found.coordinator.url == "https://coordinator.example/prefix"
    assert (found.drain_seconds, found.log_level, dict(found.origins)) == (60.0, "info", {})
    assert found.certificate_authority is None
    assert str(SECRET) not in repr(found)


def test_a_file_is_below_the_variables(setting: Setting) -> None:
    setting.file.write_text(
        'server_id = "from-file"\nkey_id = "key-2"\ndrain_seconds = 15\n'
        f'certificate_authority = "{setting.authority}"\n'
        '[origins]\nbazaar = "https://bazaar.example"\n'
    )
    found = setting.load(WORKER_CONFIGURATION=str(setting.file))
    assert (found.server_id, found.key_id, found.drain_seconds) == ("server-1", "key-2", 15.0)
    assert found.certificate_authority == setting.authority
    assert found.origins == {"bazaar": "https://bazaar.example"}


def test_every_problem_is_named_at_once(setting: Setting) -> None:
    problems = load_problems(
        {
            "WORKER_SERVER_ID": "Server 1",
            "WORKER_KEY_ID": "-",
            "WORKER_COORDINATOR": "http://coordinator.example",
            "WORKER_CERTIFICATE_AUTHORITY": "/nowhere/ca.pem",
            "WORKER_ORIGINS": "[]",
            "WORKER_LOG_LEVEL": "loud",
            "WORKER_DRAIN_SECONDS": "0",
            "WORKER_ENVIRONMENT": "staging",
        }
    )
    named = {problem.partition(":")[0] for problem in problems}
    assert named == {
        "environment",
        "server_id",
        "key_id",
        "key_file",
        "coordinator",
        "certificate_authority",
        "connectors",
        "origins",
        "log_level",
        "drain_seconds",
    }
    assert len(problems) == len(named)


def load_problems(variables: Mapping[str, str]) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        load(variables)
    return caught.value.problems


@pytest.mark.parametrize("text", ["nan", "inf", "-1", "3601", "soon", ""])
def test_a_drain_is_bounded(setting: Setting, text: str) -> None:
    (problem,) = setting.problems(WORKER_DRAIN_SECONDS=text)
    assert problem.startswith("drain_seconds:")


@pytest.mark.parametrize("content", [b"not base64!", base64.b64encode(b"short"), b""])
def test_a_key_must_be_one(setting: Setting, content: bytes) -> None:
    setting.key_file.chmod(0o600)
    setting.key_file.write_bytes(content)
    (problem,) = setting.problems()
    assert problem.startswith("key_file:")
    assert base64.b64encode(b"short").decode() not in problem


def test_the_key_may_be_a_credential_of_systemd(setting: Setting, tmp_path: Path) -> None:
    (tmp_path / "signing-key").write_bytes(base64.b64encode(SECRET))
    assert setting.load(WORKER_KEY_FILE="", CREDENTIALS_DIRECTORY=str(tmp_path)).secret == SECRET


def test_production_refuses_plain_http_and_open_keys(setting: Setting) -> None:
    setting.key_file.chmod(0o444)
    changes = {"WORKER_COORDINATOR": "http://127.0.0.1:8000"}
    assert setting.load(**changes).coordinator.scheme == "http"
    problems = setting.problems(ENVIRONMENT="production", **changes)
    assert [problem.partition(":")[0] for problem in problems] == ["key_file", "coordinator"]
    assert f"chmod 0400 {setting.key_file}" in problems[0]


@pytest.mark.parametrize("content", ["server_id = ", "\udcff"])
def test_a_file_that_is_no_toml_is_named(setting: Setting, content: str) -> None:
    setting.file.write_bytes(content.encode(errors="surrogateescape"))
    (problem,) = setting.problems(WORKER_CONFIGURATION=str(setting.file))
    assert str(setting.file) in problem


def test_a_file_that_is_not_there_is_named(setting: Setting) -> None:
    (problem,) = setting.problems(WORKER_CONFIGURATION="/nowhere/worker.toml")
    assert "/nowhere/worker.toml" in problem


def test_a_setting_that_does_not_exist_is_named(setting: Setting) -> None:
    setting.file.write_text("sever_id = 'server-1'\n")
    (problem,) = setting.problems(WORKER_CONFIGURATION=str(setting.file))
    assert problem.startswith("sever_id:")
    assert "server_id" in problem
