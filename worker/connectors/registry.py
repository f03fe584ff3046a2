"""The marketplaces that a worker can crawl: connectors by marketplace code, from a folder of descriptions."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from worker.connectors.rest.connector import RestConnector
from worker.connectors.rest.reading import read
from worker.connectors.rest.tables import DescriptionInvalid, Violation
from worker.connectors.seam import Connector


class DescriptionsInvalid(Exception):  # noqa: N818 - it says what is wrong with the descriptions
    """One or more descriptions cannot be used; `causes` has one entry for each of them."""

    def __init__(self, causes: list[DescriptionInvalid]) -> None:
        super().__init__("\n".join(map(str, causes)))
        self.causes = causes


def load(folder: Path, origins: Mapping[str, str] | None = None) -> dict[str, Connector]:
    """A connector for every `*.toml` in a folder, by marketplace code.

    `origins` replaces the origins of the marketplaces it names by code (a sandbox's port is known only at its start).
    Raises `DescriptionsInvalid` with everything that is wrong with any of the files.
    """
    connectors: dict[str, Connector] = {}
    causes: list[DescriptionInvalid] = []
    for file in sorted(folder.glob("*.toml")):
        try:
            connector = _connector(file, origins or {})
            code = connector.spec.marketplace_code
            if code in connectors:
                raise DescriptionInvalid(str(file), [Violation("code", f"{code} is described by another file too")])
            connectors[code] = connector
        except DescriptionInvalid as error:
            causes.append(error)
    if not connectors and not causes:
        causes = [DescriptionInvalid(str(folder), [Violation("*.toml", "has no description: add one")])]
    if causes:
        raise DescriptionsInvalid(causes)
    return connectors


def _connector(file: Path, origins: Mapping[str, str]) -> Connector:
    try:
        document = tomllib.loads(file.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DescriptionInvalid(str(file), [Violation("file", f"is not TOML in UTF-8: {error}")]) from error
    code = document.get("code")
    override = origins.get(code) if isinstance(code, str) else None
    return RestConnector(read(document, str(file), override))
