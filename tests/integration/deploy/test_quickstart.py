"""The quickstart as a whole: real MySQL, coordinator, servers and marketplaces, small enough for a test."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from deploy.cluster import report
from deploy.cluster.cluster import DATABASE, Cluster
from deploy.cluster.comparison import compare
from deploy.cluster.leftovers import started_at
from deploy.cluster.places import CHECKOUT
from deploy.cluster.profile import SeededAccount
from deploy.cluster.quickstart import POLICY
from deploy.cluster.seeding import write_import_file
from deploy.cluster.watching import Snapshot, Watch
from deploy.sandbox.settings import Conduct
from shared.policy import DEFAULT, Policy, to_document, violations
from shared.problems import Problem
from shared.states import Role
from tests.integration import mysql
from worker.client import CoordinatorUnreachableError

DEADLINE_SECONDS = 120.0
RUN = """
import sys
from pathlib import Path
from deploy.cluster.__main__ import main
sys.exit(main(Path(sys.argv.pop(1))))
"""
ACCOUNTS = [SeededAccount("partner-01", code, "seller-01", 600) for code in ("bazaar", "harbour", "meridian")]

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def programs() -> Path:
    """The MySQL programs; without them these tests are listed as not run."""
    found = mysql.programs()
    if found is None:
        pytest.skip("no MySQL 8.0.19 or later is installed: deploy/bootstrap installs a private one")
    return found


@contextmanager
def quickstart(folder: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """The quickstart in a folder of the test's own; ended if the test fails to."""
    command = [sys.executable, "-c", RUN, folder, *words]
    with subprocess.Popen(
        command, cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            yield process
        finally:
            process.terminate()


def told_until(process: subprocess.Popen[str], words: str) -> str:
    """All that it tells up to a line with these words. Fails when it ends before."""
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if words in line:
            return "".join(lines)
    raise AssertionError(f"it ended before it told {words!r}:\n{''.join(lines)}")


def until(holds: Callable[[], bool], what: str) -> None:
    """Wait for something that other processes do. Fails after the deadline."""
    ends_at = time.monotonic() + DEADLINE_SECONDS
    while not holds():
        assert time.monotonic() < ends_at, f"not so within {DEADLINE_SECONDS} s: {what}"
        time.sleep(0.05)  # polls: another process gives no sign


def noted(folder: Path, name: str) -> list[str]:
    """Process id and start time of a process, once it is noted."""
    note = folder / "run" / f"{name}.pid"
    return note.read_text().split() if note.exists() else []


def running_below(folder: Path) -> list[str]:
    """The command lines of all processes that name the folder or say that they were started for it."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            told = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        if str(folder).encode() in told and process.name != str(os.getpid()):
            found.append(told[:200].decode(errors="replace"))
    return found


@pytest.mark.usefixtures("programs")
def test_everything_is_crawled_and_compared_and_nothing_is_left_running(tmp_path: Path) -> None:
    folder, result = tmp_path / "quickstart", tmp_path / "report.json"
    with quickstart(folder, "--servers=2", "--scale=0.02", "--seed=3", "--keep", f"--report={result}") as process:
        told = told_until(process, "The cluster stays up until Ctrl-C")
        status = subprocess.run(
            ["sh", "-c", f". {folder}/environment && exec {sys.executable} -m coordinator status"],
            cwd=CHECKOUT,
            check=True,
            capture_output=True,
            text=True,
        )
        process.send_signal(signal.SIGINT)
        assert process.wait(DEADLINE_SECONDS) == 0
    assert "39 completed" in status.stdout
    found = json.loads(result.read_text())
    assert found.pop("coordinator_url").startswith("http://127.0.0.1:")
    assert {name: found.pop(name) > 0 for name in ("seconds", "rows_per_second", "peak_worker_rss_mb")} == {
        "seconds": True,
        "rows_per_second": True,
        "peak_worker_rss_mb": True,
    }
    assert found == {
        "accounts": 39,
        "accounts_crawled": 39,
        "listings_expected": 1_560,
        "listings_stored": 1_560,
        "missing": 0,
        "unexpected": 0,
        "different": 0,
        "duplicates": 0,
        "elections": 1,
        "reassignments": 0,
        "stale_rejections": 0,
    }
    assert "MySQL holds exactly what the marketplaces show." in told
    assert running_below(folder) == []


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("awaited", ["run/mysql.pid", "run/server-1.pid"])
def test_ctrl_c_ends_everything(tmp_path: Path, awaited: str) -> None:
    folder = tmp_path / "quickstart"
    with quickstart(folder, "--servers=1", "--accounts=3") as process:
        until((folder / awaited).exists, f"{awaited} exists")
        process.send_signal(signal.SIGINT)
        told, _ = process.communicate(timeout=DEADLINE_SECONDS)
    assert process.returncode == 130, told
    assert running_below(folder) == []


@pytest.mark.usefixtures("programs")
def test_a_killed_quickstart_leaves_nothing_running(tmp_path: Path) -> None:
    folder = tmp_path / "quickstart"
    with quickstart(folder, "--servers=1", "--accounts=3") as process:
        until((folder / "run" / "server-1.pid").exists, "a server runs")
        process.kill()
        process.wait()
    until(lambda: running_below(folder) == [], "nothing runs any more")


@pytest.mark.usefixtures("programs")
def test_a_part_that_fails_is_told_with_its_last_words(tmp_path: Path) -> None:
    folder = tmp_path / "quickstart"
    with quickstart(folder, "--servers=1", "--accounts=3") as process:
        until(lambda: len(noted(folder, "mysql")) == 2, "MySQL runs")
        os.kill(int(noted(folder, "mysql")[0]), signal.SIGKILL)
        told, _ = process.communicate(timeout=DEADLINE_SECONDS)
    assert process.returncode == 1
    assert f"mysql was ended by SIGKILL. The last lines of {folder / 'logs' / 'mysql.log'}:" in told
    assert running_below(folder) == []


def test_the_tasks_of_a_killed_server_are_finished_by_another_exactly(tmp_path: Path, programs: Path) -> None:
    with Cluster(tmp_path / "cluster", programs) as cluster:
        cluster.start_database()
        sandbox = cluster.start_sandbox(ACCOUNTS, Conduct(latency_seconds=0.5), seed=5)
        write_import_file(cluster.folder / "accounts.json", ACCOUNTS, seed=5)
        policy = [f"{name}={value}" for name, value in POLICY.items()]
        cluster.commands(("accounts", "import", str(cluster.folder / "accounts.json")), ("policy", "set", *policy))
        keys = cluster.issue_keys({"server-1": Role.SERVER, "server-2": Role.SERVER, "viewer": Role.VIEWER})
        cluster.start_coordinator()
        watch = Watch(cluster.client("viewer", keys["viewer"]))
        victim = cluster.start_server("server-1", keys["server-1"], sandbox.origins)
        until(lambda: is_in_mid_crawl(look(watch)), "a crawl has stored some pages")
        victim.kill()
        cluster.start_server("server-2", keys["server-2"], sandbox.origins)
        until(lambda: (seen := look(watch)) is not None and seen.accounts_crawled == 3, "all is crawled")
        with cluster.mysql.connect(DATABASE) as connection:
            found = compare(connection, sandbox.catalogue, lambda _: None)
            assert found.matches, found
            assert report.reassignments(connection) == 3
    assert started_at(victim.pid) is None


def look(watch: Watch) -> Snapshot | None:
    """The cluster now; None when it cannot be asked at the moment."""
    try:
        return watch.look()
    except (Problem, CoordinatorUnreachableError):
        return None


def is_in_mid_crawl(seen: Snapshot | None) -> bool:
    """Whether every account's crawl has got somewhere and none has ended."""
    return seen is not None and len(seen.running) == 3 and all(0 < crawl.processed < 600 for crawl in seen.running)


def test_the_quickstart_shortens_times_and_breaks_no_rule() -> None:
    policy = Policy(**{**to_document(DEFAULT), **POLICY})
    assert violations(policy) == []
    changed = {name for name, value in to_document(policy).items() if value != to_document(DEFAULT)[name]}
    assert all(name.endswith("_seconds") for name in changed)
