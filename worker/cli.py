"""The command ``worker``."""

import sys

import click

from shared import logs
from shared.problems import Problem
from worker.client import Client, CoordinatorUnreachableError
from worker.configuration import Configuration, ConfigurationError, load
from worker.connectors import registry
from worker.connectors.registry import DescriptionsInvalid
from worker.connectors.seam import Connector
from worker.daemon import Daemon
from worker.identity import ServerIdLockedError, hold
from worker.transport import Transport


@click.group()
@click.version_option(package_name="distributed-marketplace-processing")
def main() -> None:
    """Run a server's daemon. Settings come from WORKER_... variables; `check` names what is wrong."""


@main.command()
def run() -> None:
    """Run the daemon until SIGTERM, which drains it; a second signal ends it at once."""
    try:
        configuration = load()
        connectors = _load_connectors(configuration)
        logs.configure(sys.stderr, configuration.log_level)
        lock = hold(configuration.server_id, configuration.state_folder)
    except (ConfigurationError, ServerIdLockedError) as error:
        raise click.ClickException(str(error)) from error
    with lock:
        sys.exit(Daemon(configuration, connectors).run())


@main.command()
def check() -> None:
    """Check settings, descriptions, coordinator and key; status 1 names every problem."""
    try:
        configuration = load()
        problems, codes = _descriptions(configuration)
    except ConfigurationError as error:
        raise click.ClickException(str(error)) from error
    if problem := _coordinator_problem(configuration):
        problems.append(problem)
    if problems:
        raise click.ClickException("\n".join(problems))
    click.echo(f"all is well: worker run can start, for {', '.join(codes)}")


def _descriptions(configuration: Configuration) -> tuple[list[str], list[str]]:
    """What is wrong with the descriptions of marketplaces, or the codes of the marketplaces."""
    try:
        return [], sorted(_load_connectors(configuration))
    except ConfigurationError as error:
        return error.problems, []


def _load_connectors(configuration: Configuration) -> dict[str, Connector]:
    """The connectors by marketplace code. Raises ``ConfigurationError``."""
    try:
        connectors = registry.load(configuration.connectors, configuration.origins)
    except DescriptionsInvalid as error:
        raise ConfigurationError([str(cause) for cause in error.causes]) from error
    plain = [code for code, connector in connectors.items() if connector.spec.origin.startswith("http:")]
    if configuration.production and plain:
        raise ConfigurationError(
            [f"origins: production speaks https only: give {code} an https origin" for code in sorted(plain)]
        )
    return connectors


def _coordinator_problem(configuration: Configuration) -> str | None:
    transport = Transport(configuration.coordinator, certificate_authority=configuration.certificate_authority)
    try:
        Client(transport, configuration.key_id, configuration.secret).call("GET", "/policy")
    except CoordinatorUnreachableError as error:
        return f"coordinator: {error}: is it running, and is this its origin?"
    except Problem as problem:
        return f"coordinator: it refuses the key {configuration.key_id}: {problem.detail}"
    return None
