"""What the daemon measures of itself, for its heartbeats."""

from typing import Any

import psutil


class Telemetry:
    """CPU since the last sample and resident memory of this process."""

    def __init__(self) -> None:
        self._process = psutil.Process()
        self._process.cpu_percent(None)

    def sample(self, running_tasks: int) -> dict[str, Any]:
        """The members of ``shared.wire.servers.Telemetry``."""
        return {
            "cpu_percent": min(9999.0, max(0.0, self._process.cpu_percent(None))),
            "rss_bytes": self._process.memory_info().rss,
            "running_tasks": min(running_tasks, 255),
        }
