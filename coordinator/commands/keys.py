"""``coordinator keys issue | list | revoke``."""

import base64
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import click
from rich.table import Table

from coordinator import keys as signing_keys
from coordinator.commands.session import Session
from shared.states import Role


@click.group()
def keys() -> None:
    """Signing keys of servers and operators. To rotate one, issue a second, change over, revoke the first."""


@keys.command()
@click.option("--role", type=click.Choice([role.value for role in Role]), default=Role.SERVER.value, show_default=True)
@click.option("--owner", required=True, help="The server_id that a server key acts for, else the operator's name.")
@click.option("--key-id", help="Defaults to the owner's name.")
@click.option("--expires", type=click.DateTime(["%Y-%m-%d"]), help="The first day (UTC) on which it is refused.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write the secret there, mode 0600.")
@click.pass_obj
def issue(
    session: Session, role: str, owner: str, key_id: str | None, expires: datetime | None, out: Path | None
) -> None:
    """Issue a key. Its secret (base64) goes to --out or to standard output, once: it cannot be shown again."""
    chosen = key_id or owner
    with _destination(out) as write:
        secret = session.transaction(
            lambda tx: signing_keys.issue(
                tx,
                session.vault,
                key_id=chosen,
                role=Role(role),
                owner=owner,
                expires_at=expires,
                actor=session.actor,
            )
        )
        write(base64.b64encode(secret).decode() + "\n")
    click.echo(f"issued key {chosen} for {role} {owner}", err=True)


@keys.command("list")
@click.option("--owner", help="Only the keys of that server or operator.")
@click.pass_obj
def list_keys(session: Session, owner: str | None) -> None:
    """List keys, without their secrets."""
    table = Table("key", "role", "owner", "issued", "expires", "state")
    now = datetime.now(UTC).replace(tzinfo=None)
    for key in session.transaction(lambda tx: signing_keys.all_keys(tx, owner)):
        expired = key.expires_at is not None and key.expires_at <= now
        state = "revoked" if key.revoked_at else "expired" if expired else "in force"
        table.add_row(key.key_id, key.role, key.owner, f"{key.created_at:%Y-%m-%d}", _day(key.expires_at), state)
    session.console.print(table)


@keys.command()
@click.argument("key_id")
@click.pass_obj
def revoke(session: Session, key_id: str) -> None:
    """Revoke a key, from the next request on."""
    session.transaction(lambda tx: signing_keys.revoke(tx, key_id, session.actor))
    click.echo(f"revoked key {key_id}")


def _day(instant: datetime | None) -> str:
    return "" if instant is None else f"{instant:%Y-%m-%d}"


@contextmanager
def _destination(out: Path | None) -> Iterator[Callable[[str], object]]:
    """Where the secret goes: standard output, or a new file, which is made first and is gone again on failure."""
    if out is None:
        yield sys.stdout.write
        return
    try:
        file = os.fdopen(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii")
    except OSError as error:
        raise click.ClickException(f"--out: {out}: {error.strerror}") from error
    try:
        with file:
            yield file.write
    except BaseException:
        out.unlink()
        raise
