"""A sandbox in a process of its own, and a plain crawl of it: connector and HTTP, no engine."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import requests

from shared.listing import Listing, Reject
from shared.states import Enumeration
from worker.connectors.registry import load
from worker.connectors.seam import Account, Action, Connector, Cursor, PageRequest, Response, Verdict

ROOT = Path(__file__).parents[3]
DESCRIPTIONS = ROOT / "deploy" / "sandbox" / "marketplaces"
CODES = ("bazaar", "harbour", "meridian", "quayside")
START_DEADLINE_SECONDS = 30.0


@dataclass
class Sandbox:
    """A running sandbox; `http` keeps its connections."""

    url: str
    http: requests.Session = field(default_factory=requests.Session)

    def connectors(self) -> dict[str, Connector]:
        """The shipped descriptions, pointed at this sandbox."""
        return load(DESCRIPTIONS, dict.fromkeys(CODES, self.url))

    def account(self, code: str, account_ref: str) -> Account:
        """An account with its settings and credentials."""
        for row in self.http.get(f"{self.url}/control/accounts").json():
            if (row["marketplace_code"], row["account_ref"]) == (code, account_ref):
                return Account(account_ref, row["settings"], row["credentials"])
        raise LookupError(f"the sandbox has no account {account_ref} at {code}")

    def expected(self, code: str, account_ref: str) -> list[Listing]:
        """What a crawl of the account must find now."""
        answer = self.http.get(f"{self.url}/control/accounts/{code}/{account_ref}/catalogue")
        return [msgspec.json.decode(line, type=Listing) for line in answer.content.splitlines()]

    def conduct(self, code: str, **conduct: object) -> None:
        """Make a marketplace behave so from now on."""
        answer = self.http.put(f"{self.url}/control/marketplaces/{code}/conduct", json=conduct)
        assert answer.status_code == 204, answer.text

    def drift(self, code: str, account_ref: str, **drift: object) -> None:
        """Let something happen to an account's catalogue now."""
        answer = self.http.post(f"{self.url}/control/accounts/{code}/{account_ref}/drift", json=drift)
        assert answer.status_code == 204, answer.text

    def counts(self, code: str) -> dict[str, int]:
        """What a marketplace has done so far."""
        counts: dict[str, int] = self.http.get(f"{self.url}/control/counts").json()[code]
        return counts

    def fetch(self, request: PageRequest) -> Response:
        """Perform a connector's request."""
        answer = self.http.get(request.url, headers=dict(request.headers), allow_redirects=False, timeout=30)
        headers = {name.lower(): value for name, value in answer.headers.items()}
        return Response(answer.status_code, headers, answer.content, answer.url, time.time())


@dataclass
class Crawl:
    """What a crawl brought: listings, the cursor behind each page, its end, and the verdicts other than `ok`."""

    listings: list[Listing] = field(default_factory=list)
    page_sizes: list[int] = field(default_factory=list)
    cursors: list[Cursor] = field(default_factory=list)
    troubles: list[Verdict] = field(default_factory=list)
    end: Enumeration | None = None


def crawl(
    sandbox: Sandbox,
    connector: Connector,
    account: Account,
    cursor: Cursor | None = None,
    after_trouble: Callable[[], None] | None = None,
) -> Crawl:
    """Read an account to its end, from a cursor on.

    Where something follows trouble (`after_trouble`), a request that failed is asked again at once; else it must not.
    """
    result = Crawl()
    request = connector.resume(account, cursor) if cursor else connector.first(account, 100)
    while result.end is None:
        response = sandbox.fetch(request)
        verdict = connector.classify(response)
        if verdict.action is not Action.OK:
            assert after_trouble is not None, f"{verdict} for {response.status}: {response.body[:200]!r}"
            result.troubles.append(verdict)
            after_trouble()
            continue
        page = connector.parse(request, response)
        outcomes = [connector.normalize(raw) for raw in page.records]
        rejects = [outcome for outcome in outcomes if isinstance(outcome, Reject)]
        assert not rejects, rejects[:3]
        result.listings += [outcome for outcome in outcomes if isinstance(outcome, Listing)]
        result.page_sizes.append(len(page.records))
        result.end = page.end
        if page.next is not None:
            result.cursors.append(page.next)
            request = connector.resume(account, page.next)
    return result


@contextmanager
def running(folder: Path, settings: dict[str, object]) -> Iterator[Sandbox]:
    """A sandbox under gunicorn on a free loopback port, ended when the block is left."""
    file = folder / "sandbox.json"
    file.write_bytes(msgspec.json.encode(settings))
    # The socket listens before the process starts: early requests wait in its backlog, and no port is guessed.
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        command = [sys.executable, "-m", "deploy.sandbox", "--fd", str(listener.fileno()), "--config", str(file)]
        process = subprocess.Popen(command, cwd=ROOT, pass_fds=[listener.fileno()])
    sandbox = Sandbox(f"http://127.0.0.1:{port}")
    try:
        sandbox.http.get(sandbox.url, timeout=START_DEADLINE_SECONDS)
        yield sandbox
    finally:
        sandbox.http.close()
        process.terminate()
        process.wait(timeout=20)
