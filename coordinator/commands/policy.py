"""``coordinator policy show | set``."""

from typing import Any

import click
import msgspec
from rich.table import Table

from coordinator import policies
from coordinator.commands.session import Session
from shared import policy as shared_policy


@click.group()
def policy() -> None:
    """The numbers that the whole cluster obeys."""


@policy.command()
@click.option("--json", "as_json", is_flag=True, help="As the API serves it.")
@click.pass_obj
def show(session: Session, as_json: bool) -> None:
    """Show the policy in force."""
    current = session.transaction(session.policies.current)
    document = shared_policy.to_document(current.policy)
    if as_json:
        click.echo(msgspec.json.encode(document).decode())
        return
    table = Table("member", "value", title=f"policy version {current.version}")
    for name, value in document.items():
        table.add_row(name, str(value))
    session.console.print(table)


@policy.command("set")
@click.argument("assignments", metavar="NAME=VALUE...", nargs=-1, required=True)
@click.pass_obj
def set_policy(session: Session, assignments: tuple[str, ...]) -> None:
    """Change members of the policy. Values are JSON; a policy that contradicts itself is refused, naming each rule."""
    changes = dict(_assignment(text) for text in assignments)
    current = session.transaction(lambda tx: policies.change(tx, changes, session.actor, tx.now()))
    click.echo(f"policy version {current.version} is in force")


def _assignment(text: str) -> tuple[str, Any]:
    name, separator, value = text.partition("=")
    if not separator:
        raise click.BadParameter(f"{text!r} must be NAME=VALUE")
    try:
        return name, msgspec.json.decode(value)
    except msgspec.DecodeError as error:
        raise click.BadParameter(f"{name}: {value!r} is no JSON value") from error
