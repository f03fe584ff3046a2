"""What the database server must be: MySQL in a version whose SQL we use, with the settings that we rely on."""

import re

import pymysql
from pymysql.cursors import DictCursor

from coordinator.connections import SQL_MODE, Connector

OLDEST_VERSION = (8, 0, 19)
MIN_PACKET_BYTES = 16 * 1024 * 1024
_INSTALL = (
    "install MySQL 8.0.19 or later (9.7 LTS is what it is tested on), for instance by deploy/install-mysql, and point"
    " the database settings at it"
)
_WIDE_GRANTS = re.compile(
    r"\b(ALL PRIVILEGES|GRANT OPTION|SUPER|FILE|CREATE|DROP|ALTER|INDEX|REFERENCES|TRIGGER|SHUTDOWN|SYSTEM_USER)\b"
)
_SETTINGS = """
SELECT @@transaction_isolation AS isolation, @@sql_mode AS sql_mode, @@time_zone AS time_zone,
       @@character_set_connection AS character_set, @@max_allowed_packet AS max_allowed_packet
"""


def refusal(version: str, comment: str) -> str | None:
    """Why a server of that version cannot be used and what to install, or None when it can."""
    if "mariadb" in f"{version} {comment}".lower():
        return f"the server is MariaDB {version}, whose SQL differs: {_INSTALL}"
    numbers = re.match(r"(\d+)\.(\d+)\.(\d+)", version)
    if numbers is None or tuple(map(int, numbers.groups())) < OLDEST_VERSION:
        return f"the server is MySQL {version}, which lacks SQL that is needed: {_INSTALL}"
    return None


def problems(connector: Connector, *, production: bool) -> list[str]:
    """Everything about the server that does not do, one sentence each with the remedy.

    In production the user's rights are judged too: the coordinator changes no structure and hands out no rights.
    """
    try:
        if refused := _refused(connector):
            return [refused]
        with connector.connect(database="") as connection, connection.cursor() as cursor:
            return [*_settings(cursor), *(_grants(cursor) if production else [])]
    except pymysql.MySQLError as error:
        return [
            f"the database cannot be reached or refuses us: {error.args[-1]}: start it, and name it by database_host"
            " and database_port or by database_socket, with database_user, database_password and database_name"
        ]


def _refused(connector: Connector) -> str | None:
    # Another product may not know the session settings that we make on connecting, so none are made here.
    with connector.connect(database="", init_command=None) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT VERSION() AS version, @@version_comment AS comment")
        row = cursor.fetchone() or {}
        return refusal(row["version"], row["comment"])


def _settings(cursor: DictCursor) -> list[str]:
    cursor.execute(_SETTINGS)
    row = cursor.fetchone() or {}
    missing_modes = set(SQL_MODE.split(",")) - set(row["sql_mode"].split(","))
    rules = [
        (
            row["isolation"] == "READ-COMMITTED",
            f"transaction_isolation is {row['isolation']}: READ-COMMITTED is needed",
        ),
        (not missing_modes, f"sql_mode lacks {', '.join(sorted(missing_modes))}"),
        (row["time_zone"] == "+00:00", f"time_zone is {row['time_zone']}: +00:00 is needed"),
        (row["character_set"] == "utf8mb4", f"character_set_connection is {row['character_set']}: utf8mb4 is needed"),
        (
            row["max_allowed_packet"] >= MIN_PACKET_BYTES,
            f"max_allowed_packet is {row['max_allowed_packet']}: set it to at least {MIN_PACKET_BYTES}",
        ),
    ]
    return [sentence for holds, sentence in rules if not holds]


def _grants(cursor: DictCursor) -> list[str]:
    cursor.execute("SHOW GRANTS FOR CURRENT_USER()")
    grants = [str(value) for row in cursor.fetchall() for value in row.values()]
    wide = sorted({found for grant in grants for found in _WIDE_GRANTS.findall(grant.partition(" ON ")[0])})
    if any("WITH GRANT OPTION" in grant for grant in grants):
        wide.append("GRANT OPTION")
    if wide:
        rights = "SELECT, INSERT, UPDATE and DELETE on its database"
        return [f"the database user may {', '.join(wide)}: give the coordinator one that has only {rights}"]
    return []
