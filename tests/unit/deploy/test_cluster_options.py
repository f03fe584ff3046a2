"""The quickstart's command line."""

from pathlib import Path

import pytest

from deploy.cluster.options import Options, parse


def test_the_defaults_are_the_baseline_profile() -> None:
    assert parse([]) == Options(servers=3, accounts=39, scale=1.0, seed=1, keep=False, report=None)


def test_everything_can_be_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUICKSTART_CALLED_FROM", str(tmp_path))
    words = ["--servers=2", "--accounts=5", "--scale=0.5", "--seed=9", "--keep", "--report=result.json"]
    assert parse(words) == Options(2, 5, 0.5, 9, keep=True, report=tmp_path / "result.json")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--servers=0"], "argument --servers: '0' must be a whole number from 1 to 20"),
        (["--servers=two"], "argument --servers: 'two' must be a whole number from 1 to 20"),
        (["--accounts=-1"], "argument --accounts: '-1' must be a whole number from 1 to 10000"),
        (["--scale=nan"], "argument --scale: 'nan' must be a number from 0.01 to 100"),
        (["--report=/no/such/folder/x"], "argument --report: '/no/such/folder/x' must be a file in a folder"),
        (["up"], "unrecognized arguments: up"),
    ],
)
def test_what_cannot_be_taken_is_named(words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(words)
    assert ended.value.code == 2
    assert complaint in capsys.readouterr().err
