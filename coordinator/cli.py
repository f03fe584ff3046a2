"""The command ``coordinator``: noun, then verb."""

from typing import Any

import click

from coordinator.commands.accounts import accounts
from coordinator.commands.check import check
from coordinator.commands.keys import keys
from coordinator.commands.policy import policy
from coordinator.commands.schema import schema
from coordinator.commands.serve import serve
from coordinator.commands.session import Session
from coordinator.commands.status import status
from coordinator.configuration import ConfigurationError
from coordinator.keys import KeyRefusedError
from coordinator.policies import PolicyError
from coordinator.schema import SchemaError
from shared.problems import Problem

_EXPECTED = (ConfigurationError, KeyRefusedError, PolicyError, Problem, SchemaError)


class Commands(click.Group):
    """Says what is wrong in sentences; a traceback means a fault of ours."""

    def invoke(self, context: click.Context) -> Any:
        """Run the command; expected failures end it with status 1 and their message."""
        try:
            return super().invoke(context)
        except _EXPECTED as error:
            raise click.ClickException(str(error)) from error


@click.group(cls=Commands)
@click.version_option(package_name="distributed-marketplace-processing")
@click.pass_context
def main(context: click.Context) -> None:
    """Run and look after the coordinator. Settings come from COORDINATOR_... variables; `check` names what is wrong."""
    context.obj = context.with_resource(Session())


for command in (accounts, check, keys, policy, schema, serve, status):
    main.add_command(command)
