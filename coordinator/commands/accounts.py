"""``coordinator accounts import FILE | list``."""

from functools import partial
from pathlib import Path

import click
from rich.table import Table

from coordinator import account_import, pages
from coordinator.commands import import_file
from coordinator.commands.session import Session


@click.group()
def accounts() -> None:
    """Seller accounts, with their partners, marketplaces and credentials."""


@accounts.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.pass_obj
def import_accounts(session: Session, file: Path) -> None:
    """Import partners, marketplaces and accounts from a JSON or CSV file.

    The file is checked wholly before anything is written. Importing it again changes only what differs.
    """
    document = import_file.read(file)
    done = session.transaction(lambda tx: account_import.run(tx, session.vault, document, session.actor))
    click.echo(f"accounts: {done.created} created, {done.changed} changed, {done.unchanged} unchanged")


@accounts.command("list")
@click.pass_obj
def list_accounts(session: Session) -> None:
    """List all accounts."""
    table = Table("account", "partner", "marketplace", "reference", "size", "due (UTC)", "state")
    after: int | str | None = 0
    while after is not None:
        page = session.transaction(partial(pages.accounts, after=int(after)))
        for line in page.items:
            table.add_row(
                str(line.account_id),
                line.partner_code,
                line.marketplace_code,
                line.account_ref,
                "unknown" if line.size is None else str(line.size),
                f"{line.next_due_at:%Y-%m-%d %H:%M}",
                _state(line),
            )
        after = page.next_after
    session.console.print(table)


def _state(line: pages.AccountLine) -> str:
    if line.suspended_at is not None:
        return "suspended: import new credentials"
    if line.paused:
        return "paused"
    return line.task_state.value if line.task_state else "idle"
