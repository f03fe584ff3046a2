"""Settings: where they come from, what is refused, and that everything wrong is named at once."""

from pathlib import Path

import pytest

from coordinator import configuration
from coordinator.configuration import ConfigurationError
from coordinator.vault import new_key_line


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "keys"
    path.write_text(new_key_line())
    path.chmod(0o400)
    return path


@pytest.fixture
def environ(key_file: Path) -> dict[str, str]:
    return {"COORDINATOR_ORIGIN": "http://127.0.0.1:8080", "COORDINATOR_KEY_FILE": str(key_file)}


@pytest.fixture
def production(environ: dict[str, str]) -> dict[str, str]:
    return {
        **environ,
        "ENVIRONMENT": "production",
        "COORDINATOR_ORIGIN": "https://coordinator.example",
        "COORDINATOR_DATABASE_PASSWORD": "correct horse battery staple",
    }


def problems(environ: dict[str, str]) -> list[str]:
    with pytest.raises(ConfigurationError) as refused:
        configuration.load(environ)
    return refused.value.problems


def test_little_needs_to_be_said(environ: dict[str, str]) -> None:
    loaded = configuration.load(environ)
    assert loaded.authority == "127.0.0.1:8080"
    assert loaded.production is False
    assert (loaded.database.host, loaded.database.port) == ("127.0.0.1", 3306)
    assert loaded.open_vault()


def test_all_problems_are_named_at_once(environ: dict[str, str]) -> None:
    environ |= {
        "COORDINATOR_ORIGIN": "somewhere",
        "COORDINATOR_KEY_FILE": "",
        "COORDINATOR_LOG_LEVEL": "loud",
        "COORDINATOR_DATABASE_PORT": "none",
        "COORDINATOR_DATABASE_POOL_SIZE": "0",
        "COORDINATOR_DATABASE_PASSWORD_FILE": "/nonexistent",
        "COORDINATOR_DATABASE_CERTIFICATE_AUTHORITY": "/nonexistent",
        "COORDINATOR_ENVIRONMENT": "staging",
    }
    named = [problem.split(":")[0] for problem in problems(environ)]
    assert sorted(named) == sorted(
        [
            "origin",
            "key_file",
            "log_level",
            "database_port",
            "database_pool_size",
            "database_password_file",
            "database_certificate_authority",
            "environment",
        ]
    )


@pytest.mark.parametrize(
    ("origin", "authority"),
    [
        ("https://Coordinator.Example", "coordinator.example"),
        ("https://coordinator.example:443", "coordinator.example"),
        ("https://coordinator.example:8443/", "coordinator.example:8443"),
        ("http://coordinator.example:80", "coordinator.example"),
        ("http://coordinator.example:443", "coordinator.example:443"),
        ("http://[::1]:8080", "[::1]:8080"),
    ],
)
def test_the_authority_is_the_origin_s(environ: dict[str, str], origin: str, authority: str) -> None:
    assert configuration.load({**environ, "COORDINATOR_ORIGIN": origin}).authority == authority


@pytest.mark.parametrize(
    "origin",
    ["", "coordinator.example", "ftp://x", "http://", "http://x:99999", "http://u:p@x", "http://x/path", "http://x?q"],
)
def test_what_is_no_origin_is_refused(environ: dict[str, str], origin: str) -> None:
    (problem,) = problems({**environ, "COORDINATOR_ORIGIN": origin})
    assert problem.startswith("origin:")


def test_a_file_is_read_and_the_environment_wins(environ: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "coordinator.toml"
    file.write_text('database_name = "from_file"\ndatabase_port = 3307\nlog_level = "debug"\n')
    loaded = configuration.load({**environ, "COORDINATOR_CONFIGURATION": str(file), "COORDINATOR_LOG_LEVEL": "warning"})
    assert (loaded.database.name, loaded.database.port, loaded.log_level) == ("from_file", 3307, "warning")


@pytest.mark.parametrize("content", ["not toml", 'databse_name = "x"'])
def test_a_file_with_mistakes_is_named(environ: dict[str, str], tmp_path: Path, content: str) -> None:
    file = tmp_path / "coordinator.toml"
    file.write_text(content)
    (problem,) = problems({**environ, "COORDINATOR_CONFIGURATION": str(file)})
    assert str(file) in problem


def test_the_key_may_be_a_systemd_credential(environ: dict[str, str], key_file: Path) -> None:
    del environ["COORDINATOR_KEY_FILE"]
    key_file.rename(key_file.parent / "key-encryption-key")
    loaded = configuration.load({**environ, "CREDENTIALS_DIRECTORY": str(key_file.parent)})
    assert loaded.open_vault()


def test_production_as_it_should_be(production: dict[str, str]) -> None:
    assert configuration.load(production).production is True


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"COORDINATOR_ORIGIN": "http://coordinator.example"}, "origin"),
        ({"COORDINATOR_DATABASE_PASSWORD": ""}, "database_password"),
        ({"COORDINATOR_DATABASE_PASSWORD": "password"}, "database_password"),
        ({"COORDINATOR_DATABASE_PASSWORD": "coordinator"}, "database_password"),
    ],
)
def test_production_refuses_what_is_unsafe(production: dict[str, str], change: dict[str, str], named: str) -> None:
    (problem,) = problems({**production, **change})
    assert problem.startswith(f"{named}:")


def test_production_refuses_a_key_file_that_others_can_read(production: dict[str, str], key_file: Path) -> None:
    key_file.chmod(0o444)
    with pytest.raises(ConfigurationError, match="chmod"):
        configuration.load(production).open_vault()


def test_production_refuses_a_password_file_that_others_can_read(production: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("correct horse battery staple\n")
    file.chmod(0o644)
    (problem,) = problems({**production, "COORDINATOR_DATABASE_PASSWORD_FILE": str(file)})
    assert problem.startswith("database_password_file:")
    file.chmod(0o400)
    loaded = configuration.load({**production, "COORDINATOR_DATABASE_PASSWORD_FILE": str(file)})
    assert loaded.database.password == "correct horse battery staple"


def test_the_password_stays_out_of_representations(production: dict[str, str]) -> None:
    assert "battery" not in repr(configuration.load(production))


@pytest.mark.parametrize(
    ("setting", "is_local"),
    [
        ({"COORDINATOR_DATABASE_SOCKET": "/run/mysqld.sock", "COORDINATOR_DATABASE_HOST": "db.example"}, True),
        ({"COORDINATOR_DATABASE_HOST": "127.0.0.1"}, True),
        ({"COORDINATOR_DATABASE_HOST": "::1"}, True),
        ({"COORDINATOR_DATABASE_HOST": "localhost"}, True),
        ({"COORDINATOR_DATABASE_HOST": "10.0.0.1"}, False),
        ({"COORDINATOR_DATABASE_HOST": "db.example"}, False),
    ],
)
def test_tls_is_off_only_where_bytes_stay_here(
    environ: dict[str, str], setting: dict[str, str], is_local: bool
) -> None:
    assert configuration.load({**environ, **setting}).database.is_local is is_local
