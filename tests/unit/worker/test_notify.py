"""What systemd hears, on a real datagram socket."""

from __future__ import annotations

import secrets
import socket
from pathlib import Path

import pytest

from worker.notify import notify


@pytest.mark.parametrize("kind", ["path", "abstract"])
def test_assignments_arrive_in_one_datagram(kind: str, tmp_path: Path) -> None:
    named = str(tmp_path / "notify") if kind == "path" else f"@marketplace-{secrets.token_hex(8)}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(named.replace("@", "\0", 1) if kind == "abstract" else named)
        listener.settimeout(10)
        assert notify({"NOTIFY_SOCKET": named}, READY="1", STATUS="Worker, 2 tasks")
        assert listener.recv(4096) == b"READY=1\nSTATUS=Worker, 2 tasks"


def test_nobody_listens(tmp_path: Path) -> None:
    assert not notify({}, READY="1")
    assert not notify({"NOTIFY_SOCKET": str(tmp_path / "nothing")}, READY="1")
