"""The file of ``coordinator accounts import``: JSON as the import takes it, or CSV with a row for each account.

CSV has the columns ``partner``, ``marketplace`` and ``account_ref``; besides ``refresh_interval_seconds`` and, for
each member of settings or credentials, a column such as ``settings.shop`` or ``credentials.token``. An empty cell
leaves the member out.
"""

import csv
import io
from pathlib import Path
from typing import Any

import msgspec

from shared.problems import InvalidInput

MAX_FILE_BYTES = 64 * 1024 * 1024
_PLAIN = ("partner", "marketplace", "account_ref", "refresh_interval_seconds")
_NESTED = ("settings", "credentials")


def read(path: Path) -> dict[str, Any]:
    """The document in ``path``. Raises ``InvalidInput`` naming what cannot be read; its members are not judged yet."""
    if path.stat().st_size > MAX_FILE_BYTES:
        raise InvalidInput(f"{path} takes more than {MAX_FILE_BYTES} bytes: split it")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not in UTF-8: {error.reason} at byte {error.start}") from error
    return _from_csv(path, text) if path.suffix.lower() == ".csv" else _from_json(path, text)


def _from_json(path: Path, text: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidInput(f"{path} is no JSON object: {error}") from error


def _from_csv(path: Path, text: str) -> dict[str, Any]:
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        columns = list(reader.fieldnames or [])
        _check_columns(path, columns)
        return {"accounts": [_account(path, line, row) for line, row in enumerate(reader, start=2)]}
    except csv.Error as error:
        raise InvalidInput(f"{path} is no CSV, line {reader.line_num}: {error}") from error


def _check_columns(path: Path, columns: list[str]) -> None:
    unknown = [name for name in columns if name not in _PLAIN and name.partition(".")[0] not in _NESTED]
    missing = [name for name in _PLAIN[:3] if name not in columns]
    problems = [f"column {name!r} is not known" for name in unknown]
    problems += [f"column {name} is missing" for name in missing]
    if len(set(columns)) != len(columns):
        problems.append("a column is named twice")
    if problems:
        raise InvalidInput(f"{path}: {'; '.join(problems)}")


def _account(path: Path, line: int, row: dict[str | None, Any]) -> dict[str, Any]:
    account: dict[str, Any] = {}
    for name, value in row.items():
        if name is None or value is None:
            raise InvalidInput(f"{path}, line {line}: there are more or fewer cells than columns")
        if value == "":
            continue
        outer, _, inner = name.partition(".")
        if inner:
            account.setdefault(outer, {})[inner] = value
        else:
            account[name] = int(value) if name == "refresh_interval_seconds" and value.isdecimal() else value
    return account
