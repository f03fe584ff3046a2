"""The shop as this project sees it: an origin that answers HTTP, and programs in an environment of its own."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
REQUIREMENTS = HERE / "requirements.txt"
STOP_SECONDS = 15


class ShopUnavailable(Exception):  # noqa: N818 - what is the case, not what went wrong
    """The shop's packages cannot be installed on this machine."""


def environment(folder: Path) -> Path:
    """The Python of an environment at ``folder`` with the shop's packages, made where it is missing or outdated.

    Raises ``ShopUnavailable`` with what pip says.
    """
    python, stamp = folder / "bin" / "python", folder / "installed"
    wanted = f"{sys.version}\n{REQUIREMENTS.read_text()}"
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
    install: list[str | Path] = [
        python,
        "-m",
        "pip",
        "install",
        "-qq",
        "--disable-pip-version-check",
        "-r",
        REQUIREMENTS,
    ]
    installed = subprocess.run(install, capture_output=True, text=True, check=False)
    if installed.returncode != 0:
        raise ShopUnavailable(installed.stderr)
    stamp.write_text(wanted)
    return python


@dataclass(frozen=True)
class Shop:
    """A running shop; its partners are ``partner-1`` to ``partner-n``."""

    origin: str
    python: Path
    data: Path

    def inventory(self) -> dict[str, list[dict[str, Any]]]:
        """What the shop's own database holds, by partner."""
        found: dict[str, list[dict[str, Any]]] = json.loads(
            subprocess.run(
                [self.python, "-W", "ignore", "-m", "shop.inventory"],
                cwd=HERE,
                env=_variables(self.data),
                stdout=subprocess.PIPE,
                check=True,
            ).stdout
        )
        return found

    def answers(self, status: int) -> int:
        """How many requests the shop has answered with this status."""
        return (self.data / "access.log").read_text().split().count(str(status))


def credentials(partner_code: str) -> dict[str, str]:
    """What a partner's user logs in with."""
    return {"username": partner_code, "password": f"password-of-{partner_code}"}


@contextmanager
def open_shop(python: Path, data: Path, partners: int, products: int) -> Iterator[Shop]:
    """Stock a shop in the empty folder ``data`` and serve it with gunicorn until the block ends.

    One process, since each one counts its throttled requests for itself.
    """
    stock: list[str | Path] = [python, "-W", "ignore", "-m", "shop.stock", str(partners), str(products)]
    subprocess.run(stock, cwd=HERE, env=_variables(data), check=True)
    with socket.create_server(("127.0.0.1", 0)) as listener, (data / "gunicorn.log").open("w") as log:
        serve: list[str | Path] = [python, "-m", "gunicorn", "shop.wsgi", "--threads=4", "--no-control-socket"]
        serve += [f"--bind=fd://{listener.fileno()}", f"--access-logfile={data / 'access.log'}"]
        process = subprocess.Popen(
            [*serve, "--access-logformat=%(s)s"],
            cwd=HERE,
            env=_variables(data),
            stdout=log,
            stderr=log,
            pass_fds=[listener.fileno()],
        )
        try:
            yield Shop(f"http://127.0.0.1:{listener.getsockname()[1]}", python, data)
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _variables(data: Path) -> dict[str, str]:
    return {**os.environ, "DJANGO_SETTINGS_MODULE": "shop.settings", "SHOP_DATA": str(data), "PYTHONPATH": str(HERE)}
