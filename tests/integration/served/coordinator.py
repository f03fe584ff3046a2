"""``python -m tests.integration.served.coordinator serve …``: the coordinator's own program, with instruments.

Nothing of it is replaced. Instruments are chosen by variables: ``INSTRUMENT_CLOCK`` names the file of a shared clock,
``INSTRUMENT_HISTORY`` the folder in which requests and answers are written down.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from flask import Flask

from coordinator.__main__ import main
from coordinator.commands import serve
from coordinator.configuration import Configuration
from tests.integration.served.shared_clock import FollowedClock
from tests.invariants.exchange import Recorder
from tests.invariants.recording import RecordedApplication

CLOCK = "INSTRUMENT_CLOCK"
HISTORY = "INSTRUMENT_HISTORY"


def instrument() -> None:
    """Put the instruments in, before anything starts; worker processes inherit them."""
    if file := os.environ.get(CLOCK):
        FollowedClock(Path(file)).install()
    if folder := os.environ.get(HISTORY):
        _record(Path(folder))


def _record(folder: Path) -> None:
    plain = serve.create_app

    def create_app(configuration: Configuration) -> Flask:
        app = plain(configuration)
        app.wsgi_app = RecordedApplication(app.wsgi_app, Recorder(folder, "coordinator"))  # type: ignore[method-assign]
        return app

    serve.create_app = create_app


if __name__ == "__main__":
    instrument()
    sys.exit(main())
