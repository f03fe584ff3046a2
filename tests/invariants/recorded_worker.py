"""``python -m tests.invariants.recorded_worker run``: the worker's own program, writing down what it says.

``INSTRUMENT_HISTORY`` names the folder.
"""

from __future__ import annotations

import os
from pathlib import Path

from tests.invariants.recording import record_client
from worker.__main__ import main

if __name__ == "__main__":
    record_client(Path(os.environ["INSTRUMENT_HISTORY"]))
    main()
