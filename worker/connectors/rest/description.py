"""A marketplace as its file describes it, checked and ready for use."""

from collections.abc import Mapping
from dataclasses import dataclass

from worker.connectors.documents import Path
from worker.connectors.origin import Origin
from worker.connectors.paging.strategy import Strategy
from worker.connectors.rest.authentication import Authentication
from worker.connectors.rest.records import RecordMap
from worker.connectors.rest.templates import Template
from worker.connectors.rest.verdicts import ErrorMap
from worker.connectors.seam import Capabilities, RateLimit


@dataclass(frozen=True, slots=True)
class Description:
    """Everything that the `rest` connector knows of its marketplace.

    `version` counts the changes of the file after which older cursors mean something else. `path`, `params` and
    `headers` hold templates; the paths say where an answer holds records, total and the page size used.
    """

    marketplace_code: str
    version: int
    origin: Origin
    path: Template
    params: Mapping[str, Template]
    headers: Mapping[str, Template]
    authentication: Authentication
    strategy: Strategy
    records_path: Path
    total_path: Path | None
    size_path: Path | None
    records: RecordMap
    capabilities: Capabilities
    rate_limit: RateLimit | None
    errors: ErrorMap

    @property
    def cursor_format(self) -> str:
        """Connector and version: a change of strategy, of its positions or of the file's version makes it another."""
        return f"rest-{self.strategy.name}/{self.strategy.version}.{self.version}"
