"""How far the crawl is, on a terminal: who leads, the totals, and a bar for every slot of every server."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from deploy.cluster.progress import Goal, clock, leading, to_go
from deploy.cluster.watching import Pace, RunningCrawl, ServerSeen, Snapshot

TITLE = "Distributed Marketplace Processing"
MAX_WIDTH = 120
SILENT_AFTER_SECONDS = 10.0
_LINES_AROUND_SLOTS = 9
_COUNTS_WIDTH = len("20,000 / 20,000")


class LiveProgress:
    """Steps with a tick, then one picture that is drawn again and again."""

    def __init__(self, goal: Goal, console: Console) -> None:
        self._goal = goal
        self._console = console
        self._pace = Pace()
        self._began: float | None = None
        self._live: Live | None = None

    @contextmanager
    def step(self, doing: str) -> Iterator[None]:
        """A spinner, then a line with a tick and the seconds that it took."""
        began = time.monotonic()
        with self._console.status(escape(doing)):
            yield
        seconds = f"{time.monotonic() - began:.1f} s"
        room = max(min(self._console.width, MAX_WIDTH) - len(seconds) - 4, 20)
        self._console.print(f"[green]✓[/] {escape(doing):<{room}} [dim]{seconds}[/]", highlight=False)

    def remark(self, text: str) -> None:
        """A paragraph above the picture."""
        self._console.print(text, markup=False, highlight=False)

    def show(self, snapshot: Snapshot) -> None:
        """Draw the picture anew."""
        now = time.monotonic()
        if self._live is None or self._began is None:
            self._began = now
            self._live = Live(console=self._console, auto_refresh=False)
            self._live.start()
        self._pace.learn(now, snapshot.records)
        room = max(self._console.height - _LINES_AROUND_SLOTS, 3)
        picture = draw(snapshot, self._goal, self._pace.per_second, now - self._began, room)
        self._live.update(picture, refresh=True)

    def close(self) -> None:
        """Leave the last picture where it is."""
        if self._live is not None:
            self._live.stop()
            self._live = None


def draw(snapshot: Snapshot, goal: Goal, per_second: float, seconds: float, room: int) -> RenderableType:
    """The picture, with at most ``room`` lines of slots."""
    parts = [_totals(snapshot, goal, per_second, seconds), Text(), _slots(snapshot, goal, room)]
    return Panel(Group(*parts), title=f"[bold]{TITLE}[/]", subtitle=leading(snapshot), width=None, padding=(0, 1))


def _totals(snapshot: Snapshot, goal: Goal, per_second: float, seconds: float) -> RenderableType:
    table = Table.grid(padding=(0, 2), expand=True)
    table.add_column()
    table.add_column(ratio=1)
    table.add_column(justify="right", no_wrap=True, min_width=_COUNTS_WIDTH)
    for what, done, of in (
        ("accounts", snapshot.accounts_crawled, goal.accounts),
        ("listings", snapshot.records, goal.listings),
    ):
        table.add_row(what, _bar(done, of), f"{done:,} / {of:,}")
    pace = Text(f"{per_second:,.0f} rows/s, {to_go(snapshot, goal, per_second)}", style="cyan")
    table.add_row("", pace, clock(seconds))
    return table


def _slots(snapshot: Snapshot, goal: Goal, room: int) -> RenderableType:
    if not snapshot.servers:
        return Text("no server has registered yet", style="dim")
    table = Table.grid(padding=(0, 2), expand=True)
    for _ in range(3):
        table.add_column(no_wrap=True)
    table.add_column(ratio=1)
    table.add_column(justify="right", no_wrap=True, min_width=_COUNTS_WIDTH)
    lines = [line for server in snapshot.servers for line in _lines(server, snapshot, goal)]
    for line in lines[:room]:
        table.add_row(*line)
    if len(lines) > room:
        table.add_row(Text(f"and {len(lines) - room} more", style="dim"))
    return table


def _lines(server: ServerSeen, snapshot: Snapshot, goal: Goal) -> Iterator[Sequence[RenderableType]]:
    """A line for each of a server's slots, the taken ones in the order of their marketplaces."""
    names = iter([Text(server.server_id, style="bold"), _standing(server, snapshot)])
    taken = sorted(
        (crawl for crawl in snapshot.running if crawl.server_id == server.server_id),
        key=lambda crawl: crawl.marketplace_code,
    )
    for crawl in taken:
        yield next(names, ""), *_crawl(crawl, goal)
    for _ in range(server.slots - len(taken)):
        yield next(names, ""), Text("free", style="dim")


def _standing(server: ServerSeen, snapshot: Snapshot) -> Text:
    if server.silent_seconds > SILENT_AFTER_SECONDS:
        return Text("silent", style="red")
    return Text("leads" if server.server_id == snapshot.leader_server_id else "", style="magenta")


def _crawl(crawl: RunningCrawl, goal: Goal) -> Sequence[RenderableType]:
    size = goal.sizes[crawl.marketplace_code, crawl.account_ref]
    return crawl.marketplace_code, crawl.partner_code, _bar(crawl.processed, size), f"{crawl.processed:,} / {size:,}"


def _bar(done: int, of: int) -> ProgressBar:
    return ProgressBar(total=max(of, 1), completed=min(done, of), complete_style="cyan", finished_style="green")
