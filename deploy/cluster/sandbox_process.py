"""The simulated marketplaces in a process of their own, and what they say they sell."""

import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
import requests

from deploy.cluster import processes
from deploy.cluster.interruption import Pause
from deploy.cluster.loopback import answers, free_port
from deploy.cluster.places import CHECKOUT
from deploy.cluster.processes import Child, Program
from deploy.cluster.profile import MARKETPLACES, SeededAccount
from deploy.sandbox.settings import Account, Conduct, Settings
from shared.listing import Listing

DESCRIPTIONS = CHECKOUT / "deploy" / "sandbox" / "marketplaces"
START_SECONDS = 60.0
_ANSWER_SECONDS = 60.0


class Sandbox:
    """Marketplaces with the profile's accounts; catalogues follow from the seed."""

    def __init__(self, child: Child, url: str) -> None:
        self.child = child
        self.url = url

    @classmethod
    def start(
        cls,
        accounts: Iterable[SeededAccount],
        conduct: Conduct,
        seed: int,
        folder: Path,
        logs: Path,
        notes: Path,
        pause: Pause = time.sleep,
    ) -> "Sandbox":
        """Write the configuration into ``folder`` and serve it on a free port. Raises ``ProcessFailed``."""
        file = folder / "sandbox.json"
        file.write_bytes(msgspec.json.encode(_settings(accounts, conduct, seed)))
        port = free_port()
        command = [sys.executable, "-m", "deploy.sandbox", "--port", str(port), "--config", str(file)]
        url = f"http://127.0.0.1:{port}"
        program = Program("sandbox", command, logs / "sandbox.log")
        child = processes.start(program, notes, lambda: answers(f"{url}/control/counts"), START_SECONDS, pause)
        return cls(child, url)

    @property
    def origins(self) -> dict[str, str]:
        """Where each marketplace is, for a worker's setting of that name."""
        return {file.stem: self.url for file in DESCRIPTIONS.glob("*.toml")}

    def catalogue(self, marketplace_code: str, account_ref: str) -> Iterator[Listing]:
        """What a crawl of the account must find, read from the sandbox line by line."""
        url = f"{self.url}/control/accounts/{marketplace_code}/{account_ref}/catalogue"
        with requests.Session() as session:
            session.trust_env = False
            with session.get(url, stream=True, timeout=_ANSWER_SECONDS) as answer:
                answer.raise_for_status()
                for line in answer.iter_lines():
                    yield msgspec.json.decode(line, type=Listing)


def _settings(accounts: Iterable[SeededAccount], conduct: Conduct, seed: int) -> Settings:
    return Settings(
        seed=seed,
        accounts=[msgspec.convert(_account(each), Account) for each in accounts],
        marketplaces=msgspec.convert(dict.fromkeys(MARKETPLACES, conduct), dict),
    )


def _account(account: SeededAccount) -> dict[str, object]:
    return {
        "marketplace_code": account.marketplace_code,
        "account_ref": account.account_ref,
        "size": account.size,
    }
