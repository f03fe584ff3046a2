"""``coordinator schema apply | verify``."""

import click

from coordinator import requirements
from coordinator import schema as schemas
from coordinator.commands.session import Session
from coordinator.schema import SchemaError


@click.group()
def schema() -> None:
    """The database's schema. These commands need a database user that may change structures."""


@schema.command()
@click.pass_obj
def apply(session: Session) -> None:
    """Create the schema in an empty database, or run the migrations that it lacks."""
    if problems := requirements.problems(session.connector, production=False):
        raise SchemaError("\n".join(problems))
    name = session.configuration.database.name
    applied = schemas.apply(session.connector, name)
    if applied.created:
        click.echo(f"created the schema in {name}, version {applied.version}")
        return
    for step in applied.migrations:
        click.echo(f"ran {step}")
    click.echo(f"{name} has version {applied.version}")


@schema.command()
@click.pass_obj
def verify(session: Session) -> None:
    """Compare the database with schema.sql, loaded into a scratch database beside it; status 1 names each drift."""
    drift = schemas.verify(session.connector, session.configuration.database.name)
    if drift:
        raise SchemaError("\n".join(drift))
    click.echo("the database is what schema.sql says")
