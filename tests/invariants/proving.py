"""A whole cluster under watch: snapshots all the time, and in the end what all of its processes wrote down."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from deploy.cluster.cluster import DATABASE, Cluster, Modules
from tests.invariants import checker, history
from tests.invariants.watching import Watch, watching


def recorded(folder: Path) -> Modules:
    """The programs of a cluster whose requests and answers are written into ``folder``."""
    return Modules(
        coordinator="tests.integration.served.coordinator",
        worker="tests.invariants.recorded_worker",
        settings={"INSTRUMENT_HISTORY": str(folder)},
    )


@dataclass
class Proof:
    """What was watched; ``judge`` adds what the end shows."""

    cluster: Cluster
    folder: Path
    watch: Watch
    exchanges: int = 0

    def judge(self) -> list[str]:
        """Every violation until now, in sentences. The database has to be there."""
        with self.cluster.mysql.connect(DATABASE) as connection:
            found = checker.violations(connection)
            self.exchanges, broken = history.check(self.folder, connection)
        return [*self.watch.violations, *found, *broken]


@contextmanager
def proving(cluster: Cluster, folder: Path) -> Iterator[Proof]:
    """Watch the cluster's database while the block runs; ``folder`` is where `recorded` programs write."""
    with watching(lambda: cluster.mysql.connect(DATABASE)) as watch:
        yield Proof(cluster, folder, watch)
