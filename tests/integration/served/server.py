"""``coordinator serve`` as a process, and plain HTTP to it over a real socket."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[3]


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


class Served:
    """A running coordinator. Its log is read all the time, or a full pipe would stop it."""

    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self.process = process
        self.port = port
        self.lines: list[dict[str, Any]] = []
        self._grown = threading.Condition()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def send(self, method: str, target: str, headers: Mapping[str, str], body: bytes | Iterable[bytes] = b"") -> Answer:
        """One request on a connection of its own; an iterable body goes in chunks, its length not announced."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, target, body=body, headers=dict(headers))
            response = connection.getresponse()
            return Answer(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()

    def wait_for(self, event: str) -> None:
        """Wait until the log has a line whose event starts like that."""
        with self._grown:
            found = self._grown.wait_for(
                lambda: any(str(line["event"]).startswith(event) for line in self.lines) or self.process.poll(),
                timeout=30,
            )
        assert found is True, f"the coordinator did not log {event!r}: {self.lines}"

    def stop(self) -> int:
        """SIGTERM, and the exit status; the rest of the log is read."""
        self.process.send_signal(signal.SIGTERM)
        return self._ended()

    def kill(self) -> None:
        """End it at once, if it runs."""
        self.process.kill()
        self._ended()

    def _ended(self) -> int:
        status = self.process.wait(timeout=40)
        self._reader.join(timeout=10)
        return status

    def _read(self) -> None:
        assert self.process.stderr
        with self.process.stderr as log:
            for text in log:
                with self._grown:
                    self.lines.append(json.loads(text) if text.startswith("{") else {"event": text})
                    self._grown.notify_all()


PLAIN = "coordinator"
INSTRUMENTED = "tests.integration.served.coordinator"


def command(port: int, program: str = PLAIN, workers: int = 1, threads: int = 8) -> list[str]:
    """How the process is started."""
    words = ["serve", "--bind", f"127.0.0.1:{port}", "--workers", str(workers), "--threads", str(threads)]
    return [sys.executable, *(["-P"] if program == PLAIN else []), "-m", program, *words]


def environment(settings: Mapping[str, str], home: Path) -> dict[str, str]:
    """The settings, and nothing of this process's own but the path."""
    return {"PATH": os.environ["PATH"], "HOME": str(home), **settings}


def start(settings: Mapping[str, str], home: Path, program: str = PLAIN, workers: int = 1, threads: int = 8) -> Served:
    """Start ``coordinator serve`` and wait until it listens."""
    port = free_port()
    words = command(port, program, workers, threads)
    process = subprocess.Popen(words, cwd=CHECKOUT, env=environment(settings, home), stderr=subprocess.PIPE, text=True)
    served = Served(process, port)
    try:
        served.wait_for("Listening at")
    except BaseException:
        served.kill()
        raise
    return served
