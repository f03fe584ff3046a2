"""How often a scenario is tried: a few times in every build, many times where the readiness gate asks for it."""

from __future__ import annotations

import os

DEPTH = "GATE_DEPTH"


def rounds(short: int, full: int) -> int:
    """``short``, or ``full`` with ``GATE_DEPTH=full``."""
    return full if os.environ.get(DEPTH) == "full" else short
