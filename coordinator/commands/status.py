"""``coordinator status``: how the cluster stands, on one screen."""

from collections.abc import Sequence

import click
from rich.console import Group
from rich.table import Table

from coordinator import pages
from coordinator import status as statuses
from coordinator.commands.session import Session
from coordinator.pages import ServerLine, TaskLine
from coordinator.status import Cluster
from shared.states import TaskState


@click.command()
@click.pass_obj
def status(session: Session) -> None:
    """Show who leads, the servers, the running tasks, and what is late."""
    policy = session.transaction(session.policies.current).policy
    cluster = session.transaction(lambda tx: statuses.cluster(tx, policy))
    servers = session.transaction(pages.servers).items
    running = session.transaction(lambda tx: pages.tasks(tx, state=TaskState.RUNNING)).items
    session.console.print(Group(_summary(cluster), _servers(servers), _running(running)))


def _summary(cluster: Cluster) -> Table:
    table = Table(title=f"cluster at {cluster.now:%Y-%m-%d %H:%M:%S} UTC", show_header=False)
    leader = cluster.leadership
    remaining = f", lease ends in {leader.lease_remaining_seconds:.0f} s"
    table.add_row("leader", f"{leader.leader_server_id}{remaining}" if leader.leader_server_id else "nobody")
    table.add_row("term", str(leader.fencing_token))
    table.add_row("servers", f"{cluster.active_servers} active")
    table.add_row("slots", f"{cluster.running} of {cluster.capacity} running")
    table.add_row("tasks", ", ".join(f"{count} {state}" for state, count in cluster.tasks.items() if count) or "none")
    ages = cluster.accounts
    table.add_row(
        "accounts",
        f"{ages.on_time} on time, {ages.catching_up} catching up, {ages.late} late,"
        f" {ages.action_required} need action, {ages.paused} paused",
    )
    for alarm in cluster.instants_ahead:
        table.add_row("[bold red]clock[/]", f"{alarm.column} lies {alarm.seconds_ahead:.1f} s ahead of now")
    return table


def _servers(lines: Sequence[ServerLine]) -> Table:
    table = Table("server", "slots", "heard of (UTC)", "version", "state", title="servers")
    for line in lines:
        if line.deregistered_at is None:
            state = "draining" if line.draining else "paused" if line.paused else ""
            slots = f"{line.running} of {line.slots}"
            table.add_row(line.server_id, slots, f"{line.last_heartbeat_at:%H:%M:%S}", line.version, state)
    return table


def _running(lines: Sequence[TaskLine]) -> Table:
    table = Table("task", "account", "server", "records", "of", "lease until (UTC)", title="running tasks")
    for line in lines:
        account = f"{line.partner_code} {line.marketplace_code} {line.account_ref}"
        total = "unknown" if line.total_discovered_count is None else str(line.total_discovered_count)
        lease = f"{line.lease_expires_at:%H:%M:%S}" if line.lease_expires_at else ""
        table.add_row(str(line.task_id), account, line.server_id, str(line.processed_count), total, lease)
    return table
