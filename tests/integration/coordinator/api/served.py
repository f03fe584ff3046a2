"""``coordinator serve`` as a process, and plain HTTP to it over a real socket."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


def free_port() -> int:
    """A port of the loopback interface that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Answer:
    """Status, headers and raw body."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def document(self) -> Any:
        return json.loads(self.body)


@dataclass
class Served:
    """A running coordinator; ``lines`` are the log lines that were read so far."""

    process: subprocess.Popen[str]
    port: int
    lines: list[dict[str, Any]] = field(default_factory=list)

    def send(self, method: str, target: str, headers: Mapping[str, str], body: bytes | Iterable[bytes] = b"") -> Answer:
        """One request on a connection of its own; an iterable body goes in chunks, its length not announced."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, target, body=body, headers=dict(headers))
            response = connection.getresponse()
            return Answer(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()

    def wait_for(self, event: str) -> dict[str, Any]:
        """Read the log to the first line whose event starts like that."""
        assert self.process.stderr
        for text in self.process.stderr:
            line = json.loads(text)
            self.lines.append(line)
            if str(line["event"]).startswith(event):
                return line
        raise AssertionError(f"the coordinator ended without {event!r}: {self.lines}")

    def stop(self) -> int:
        """SIGTERM, and the exit status; the rest of the log is read."""
        self.process.send_signal(signal.SIGTERM)
        _, rest = self.process.communicate(timeout=40)
        self.lines += [json.loads(text) for text in rest.splitlines()]
        return self.process.returncode


def command(port: int) -> list[str]:
    """How the process is started."""
    return [sys.executable, "-P", "-m", "coordinator", "serve", "--bind", f"127.0.0.1:{port}", "--workers", "1"]


def environment(settings: Mapping[str, str], home: Path) -> dict[str, str]:
    """The settings, and nothing of this process's own but the path."""
    return {"PATH": os.environ["PATH"], "HOME": str(home), **settings}


def start(settings: Mapping[str, str], home: Path) -> Served:
    """Start ``coordinator serve`` and wait until it listens."""
    port = free_port()
    process = subprocess.Popen(command(port), env=environment(settings, home), stderr=subprocess.PIPE, text=True)
    served = Served(process, port)
    try:
        served.wait_for("Listening at")
    except BaseException:
        process.kill()
        process.communicate()
        raise
    return served
