"""The end of a log, for people."""

from collections import deque
from pathlib import Path

import msgspec

LAST_LINES = 8
LINE_CHARACTERS = 500


def last_lines(log: Path, count: int = LAST_LINES) -> list[str]:
    """The last lines of a log, as people read them and cut to what a terminal can bear."""
    with log.open("rb") as lines:
        return [_readable(line)[:LINE_CHARACTERS] for line in deque(lines, count)]


def _readable(line: bytes) -> str:
    """A line of JSON as time, event and the rest; any other as it is."""
    try:
        fields = msgspec.json.decode(line, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return line.decode(errors="replace").rstrip()
    told = [str(fields.pop("timestamp", ""))[11:19], str(fields.pop("event", ""))]
    return " ".join([*told, *(f"{name}={value}" for name, value in fields.items() if name != "logger")])
