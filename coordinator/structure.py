"""The structure of a database as ``information_schema`` tells it: described, fingerprinted, compared.

Comments and the order of columns are for readers and left out. Servers print the same expression differently, so
only two descriptions from one server can be compared.
"""

import hashlib
from collections.abc import Mapping
from itertools import groupby
from typing import Any

import msgspec

from coordinator.database import Row, Transaction

Structure = Mapping[str, str]


def describe(tx: Transaction, database: str) -> Structure:
    """Every table, column, index, foreign key and check of ``database``: its name, and all that matters about it."""
    return dict(
        sorted(
            [_table(row) for row in tx.all("schema_tables", database=database)]
            + [_column(row) for row in tx.all("schema_columns", database=database)]
            + [_index(rows) for rows in _grouped(tx.all("schema_indexes", database=database), "index_name")]
            + [
                _foreign_key(rows)
                for rows in _grouped(tx.all("schema_foreign_keys", database=database), "constraint_name")
            ]
            + [_check(row) for row in tx.all("schema_checks", database=database)]
        )
    )


def fingerprint(structure: Structure) -> bytes:
    """SHA-256 over the description."""
    return hashlib.sha256(msgspec.json.encode(structure, order="sorted")).digest()


def drift(expected: Structure, found: Structure) -> list[str]:
    """What differs, one line each: what is missing, what is there besides, what is otherwise."""
    return [
        *(f"{name} is missing: {expected[name]}" for name in sorted(expected.keys() - found.keys())),
        *(f"{name} is there and should not be: {found[name]}" for name in sorted(found.keys() - expected.keys())),
        *(
            f"{name} is {found[name]}, and should be {expected[name]}"
            for name in sorted(expected.keys() & found.keys())
            if expected[name] != found[name]
        ),
    ]


def _grouped(rows: list[Row], name: str) -> list[list[Row]]:
    return [list(group) for _, group in groupby(rows, key=lambda row: (row["table_name"], row[name]))]


def _words(*parts: Any) -> str:
    return " ".join(str(part) for part in parts if part not in (None, ""))


def _table(row: Row) -> tuple[str, str]:
    return f"table {row['table_name']}", _words(row["engine"], row["table_collation"])


def _column(row: Row) -> tuple[str, str]:
    default = row["column_default"]
    return (
        f"column {row['table_name']}.{row['column_name']}",
        _words(
            row["column_type"],
            row["collation_name"],
            "NULL" if row["is_nullable"] == "YES" else "NOT NULL",
            None if default is None else f"default {default!r}",
            row["extra"],
            row["generation_expression"],
        ),
    )


def _index(rows: list[Row]) -> tuple[str, str]:
    first = rows[0]
    columns = ", ".join(
        _words(
            row["column_name"] or row["expression"],
            row["sub_part"] and f"({row['sub_part']})",
            "descending" if row["direction"] == "D" else None,
        )
        for row in rows
    )
    kind = "index" if first["non_unique"] else "unique index"
    visible = None if first["is_visible"] == "YES" else "invisible"
    return f"index {first['table_name']}.{first['index_name']}", _words(
        kind, first["index_type"], f"({columns})", visible
    )


def _foreign_key(rows: list[Row]) -> tuple[str, str]:
    first = rows[0]
    own = ", ".join(row["column_name"] for row in rows)
    parents = ", ".join(row["referenced_column_name"] for row in rows)
    return f"foreign key {first['table_name']}.{first['constraint_name']}", _words(
        f"({own}) references {first['referenced_table_name']} ({parents})",
        f"on update {first['update_rule']} on delete {first['delete_rule']}",
    )


def _check(row: Row) -> tuple[str, str]:
    enforced = None if row["enforced"] == "YES" else "not enforced"
    return f"check {row['table_name']}.{row['constraint_name']}", _words(row["check_clause"], enforced)
