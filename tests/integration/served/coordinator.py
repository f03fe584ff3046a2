"""``python -m tests.integration.served.coordinator serve …``: the coordinator's own program, with instruments.

Nothing of it is replaced. Instruments are chosen by variables: ``INSTRUMENT_CLOCK`` names the file of a shared clock.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from coordinator.__main__ import main
from tests.integration.served.shared_clock import FollowedClock

CLOCK = "INSTRUMENT_CLOCK"


def instrument() -> None:
    """Put the instruments in, before anything starts; worker processes inherit them."""
    if file := os.environ.get(CLOCK):
        FollowedClock(Path(file)).install()


if __name__ == "__main__":
    instrument()
    sys.exit(main())
