"""The sandbox as a program: quick enough, closed to other machines, clear about bad input."""

import subprocess
import sys
from pathlib import Path

import msgspec
import psutil
import pytest

from deploy.sandbox.app import create
from deploy.sandbox.settings import Settings
from tests.integration.deploy.sandbox import ROOT, crawl, running

ACCOUNTS = [{"marketplace_code": "harbour", "account_ref": "shop", "size": 20_000}]
LISTINGS_PER_CPU_SECOND = 2_000


def test_serves_a_large_account_quickly_on_one_core(tmp_path: Path) -> None:
    with running(tmp_path, {"seed": 1, "accounts": ACCOUNTS}) as sandbox:
        workers = [process for process in psutil.Process().children(recursive=True) if not process.children()]
        before = sum(sum(worker.cpu_times()[:2]) for worker in workers)
        found = crawl(sandbox, sandbox.connectors()["harbour"], sandbox.account("harbour", "shop"))
        spent = sum(sum(worker.cpu_times()[:2]) for worker in workers) - before

    assert len(found.listings) == 20_000
    assert spent > 0
    assert len(found.listings) / spent >= LISTINGS_PER_CPU_SECOND, f"{spent:.2f} s of CPU"


def test_counts_what_it_did(tmp_path: Path) -> None:
    with running(tmp_path, {"seed": 1, "accounts": ACCOUNTS}) as sandbox:
        sandbox.conduct("harbour", rate_limit={"requests": 2, "seconds": 3600})
        connector = sandbox.connectors()["harbour"]
        request = connector.first(sandbox.account("harbour", "shop"), 100)
        statuses = [sandbox.fetch(request).status for _ in range(5)]

        assert statuses == [200, 200, 429, 429, 429]
        assert sandbox.counts("harbour") == {"requests": 5, "pages": 2, "throttled": 3}


@pytest.mark.parametrize(
    ("path", "method", "body", "status", "named"),
    [
        ("/control/marketplaces/harbour/conduct", "PUT", {"error_rate": 2}, 422, "error_rate"),
        ("/control/marketplaces/harbour/conduct", "PUT", {"latency": 2}, 422, "latency"),
        ("/control/marketplaces/harbour/conduct", "PUT", None, 422, "truncated"),
        ("/control/marketplaces/nowhere/conduct", "PUT", {}, 404, ""),
        ("/control/accounts/harbour/nobody/drift", "POST", {}, 404, ""),
        ("/control/accounts/harbour/shop/drift", "POST", {"changes": "x"}, 422, "changes"),
        ("/control/accounts/harbour/nobody/catalogue", "GET", None, 404, ""),
    ],
)
def test_controls_name_what_is_wrong(path: str, method: str, body: object, status: int, named: str) -> None:
    client = create(msgspec.convert({"seed": 1, "accounts": ACCOUNTS}, Settings)).test_client()
    data = b"" if body is None else msgspec.json.encode(body)

    answer = client.open(path, method=method, data=data)

    assert answer.status_code == status
    assert named in answer.get_data(as_text=True)


@pytest.mark.parametrize(("address", "status"), [("127.0.0.1", 200), ("::1", 200), ("192.0.2.1", 403), ("", 403)])
def test_controls_are_for_this_machine_only(address: str, status: int) -> None:
    client = create(msgspec.convert({"seed": 1, "accounts": ACCOUNTS}, Settings)).test_client()

    answer = client.get("/control/accounts", environ_overrides={"REMOTE_ADDR": address})

    assert answer.status_code == status


@pytest.mark.parametrize(
    ("query", "status"),
    [("", 400), ("offset=0", 400), ("offset=-1&limit=1", 400), ("offset=0&limit=0", 400), ("offset=0&limit=x", 400)],
)
def test_harbour_insists_on_its_parameters(query: str, status: int) -> None:
    client = create(msgspec.convert({"seed": 1, "accounts": ACCOUNTS}, Settings)).test_client()
    (account,) = msgspec.json.decode(client.get("/control/accounts").get_data())
    login = (account["credentials"]["username"], account["credentials"]["password"])

    assert client.get(f"/harbour/listings/merchantid/shop?{query}", auth=login).status_code == status


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"accounts": []}, "seed"),
        ({"seed": 1, "accounts": [{"marketplace_code": "amazonia", "account_ref": "a", "size": 1}]}, "amazonia"),
        ({"seed": 1, "accounts": [], "marketplaces": {"bazaar": {"latency": 1}}}, "latency"),
    ],
)
def test_refuses_a_bad_configuration_by_its_field(tmp_path: Path, settings: dict[str, object], named: str) -> None:
    file = tmp_path / "sandbox.json"
    file.write_bytes(msgspec.json.encode(settings))

    ended = subprocess.run(
        [sys.executable, "-m", "deploy.sandbox", "--port", "1", "--config", str(file)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert ended.returncode == 1
    assert named in ended.stderr
    assert "Traceback" not in ended.stderr
