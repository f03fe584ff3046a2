"""``coordinator check``: everything that would keep the coordinator from running, named at once."""

import click

from coordinator import requirements
from coordinator import schema as schemas
from coordinator.commands.session import Session
from coordinator.configuration import ConfigurationError
from shared import policy as policies


def problems(session: Session) -> list[str]:
    """Every reason not to start: settings, key file, server, schema, policy; one line each with the remedy."""
    try:
        configuration = session.configuration
    except ConfigurationError as error:
        return error.problems
    found: list[str] = []
    try:
        configuration.open_vault()
    except ConfigurationError as error:
        found += error.problems
    server = requirements.problems(session.connector, production=configuration.production)
    if server:
        return [*found, *server]
    name = configuration.database.name
    found += session.transaction(lambda tx: schemas.read_state(tx, name)).problems()
    return found or _policy_problems(session)


def _policy_problems(session: Session) -> list[str]:
    current = session.transaction(session.policies.current)
    return [f"policy: {broken}" for broken in policies.violations(current.policy)]


@click.command()
@click.pass_obj
def check(session: Session) -> None:
    """Check settings, key file, database server, schema and policy; status 1 names every problem."""
    if found := problems(session):
        raise ConfigurationError(found)
    click.echo("all is well: coordinator serve can start")
