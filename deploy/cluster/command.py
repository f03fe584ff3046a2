"""The quickstart as its user meets it: what is shown, what is summed up, and with which status it ends."""

from collections.abc import Callable
from pathlib import Path

import pymysql
from rich.console import Console

from deploy.cluster.cluster import Cluster
from deploy.cluster.comparison import Comparison
from deploy.cluster.interruption import Interrupted, Interruption
from deploy.cluster.keeping import invitation
from deploy.cluster.mysql_server import find_programs
from deploy.cluster.options import Options
from deploy.cluster.places import shown
from deploy.cluster.processes import ProcessFailed
from deploy.cluster.profile import baseline
from deploy.cluster.progress import Goal, PlainProgress, Progress, clock
from deploy.cluster.quickstart import Quickstart
from deploy.cluster.report import Report
from deploy.cluster.screen import LiveProgress
from deploy.cluster.watching import CrawlFailed


def run(options: Options, folder: Path, interruption: Interruption) -> int:
    """Run it and end everything that it started; returns the exit status."""
    console = Console(highlight=False)
    accounts = baseline(options.accounts, options.scale, options.seed)
    goal = Goal({(each.marketplace_code, each.account_ref): each.size for each in accounts})
    progress = LiveProgress(goal, console) if console.is_terminal else PlainProgress(goal, _writer(console))
    cluster = Cluster(folder, find_programs(), interruption.pause, hurry=lambda: interruption.requests > 1)
    quickstart = Quickstart(cluster, accounts, options, progress, interruption.pause)
    try:
        return _perform(quickstart, cluster, options, console)
    except Interrupted as interrupted:
        progress.close()
        progress.remark(f"{interrupted}: ending what was started (once more: at once).")
        return interrupted.exit_status
    except (ProcessFailed, CrawlFailed, OSError, pymysql.MySQLError) as error:
        progress.close()
        progress.remark(f"{error}\nAll logs are in {shown(folder / 'logs')}.")
        return 1
    finally:
        end(cluster, progress)


def _perform(quickstart: Quickstart, cluster: Cluster, options: Options, console: Console) -> int:
    sandbox = quickstart.set_up()
    result, found = quickstart.judge(sandbox, quickstart.crawl(sandbox))
    if options.report is not None:
        result.write(options.report)
    _sum_up(console, result, found)
    status = 0 if found.matches and result.accounts_crawled == result.accounts else 1
    if options.keep:
        console.print(invitation(cluster, sandbox), soft_wrap=True, markup=False)
        try:
            quickstart.keep()
        except Interrupted:
            return status
    return status


def _sum_up(console: Console, result: Report, found: Comparison) -> None:
    console.print(
        f"\n  {result.accounts_crawled} of {result.accounts} accounts crawled in {clock(result.seconds)}:"
        f" {result.listings_stored:,} listings, {result.rows_per_second:,.0f} rows/s\n"
        f"  missing {result.missing}, unexpected {result.unexpected}, different {result.different},"
        f" duplicates {result.duplicates}\n"
        f"  elections {result.elections}, reassignments {result.reassignments},"
        f" stale rejections {result.stale_rejections}, largest worker {result.peak_worker_rss_mb:.0f} MB\n"
    )
    for example in found.examples:
        console.print(f"  {example}", markup=False)
    if found.matches:
        console.print("[bold green]MySQL holds exactly what the marketplaces show.[/]\n")
    else:
        console.print("[bold red]MySQL does not hold what the marketplaces show.[/]\n")


def end(cluster: Cluster, progress: Progress) -> None:
    """End what runs and say so; what cannot be said, since the terminal is gone, is ended all the same."""
    try:
        with progress.step("everything ended that was started"):
            cluster.stop()
    finally:
        cluster.stop()
    logs = shown(cluster.logs)
    progress.remark(f"Logs are in {logs}. deploy/quickstart down removes what the quickstart made.")


def _writer(console: Console) -> Callable[[str], None]:
    """Whole lines, whatever the width, at once."""

    def write(text: str) -> None:
        console.print(text, markup=False, soft_wrap=True)
        console.file.flush()

    return write
