"""Worker daemons, as their command starts them."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from deploy.cluster.processes import Child, Program

DRAIN_SECONDS = 15


@dataclass(frozen=True)
class WorkerSettings:
    """What a server's daemon is told; ``key_file`` holds its signing key, ``origins`` say where marketplaces are.

    ``module`` is what runs, ``more`` are variables that it gets besides.
    """

    server_id: str
    key_file: Path
    coordinator: str
    descriptions: Path
    origins: Mapping[str, str]
    state_folder: Path
    logs: Path
    notes: Path
    module: str = "worker"
    more: Mapping[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        """The settings as variables."""
        return {
            "WORKER_SERVER_ID": self.server_id,
            "WORKER_KEY_FILE": str(self.key_file),
            "WORKER_COORDINATOR": self.coordinator,
            "WORKER_CONNECTORS": str(self.descriptions),
            "WORKER_ORIGINS": json.dumps(dict(self.origins)),
            "WORKER_STATE_FOLDER": str(self.state_folder),
            "WORKER_DRAIN_SECONDS": str(DRAIN_SECONDS),
            **self.more,
        }


def start(settings: WorkerSettings) -> Child:
    """Start a daemon; it registers by itself and keeps trying until the coordinator lets it."""
    words = [sys.executable, "-m", settings.module, "run"]
    log = settings.logs / f"{settings.server_id}.log"
    return Child(Program(settings.server_id, words, log, settings.environment()), settings.notes)
