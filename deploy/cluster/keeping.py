"""What to try with a quickstart's cluster while it is up."""

import shlex
from pathlib import Path

from deploy.cluster.cluster import Cluster
from deploy.cluster.places import shown
from deploy.cluster.sandbox_process import Sandbox


def write_environment(cluster: Cluster) -> Path:
    """A file to source in a shell, after which ``coordinator`` commands speak to this cluster. Mode 0600."""
    file = cluster.folder / "environment"
    settings = cluster.settings.environment()
    file.touch(mode=0o600)
    file.write_text("".join(f"export {name}={shlex.quote(value)}\n" for name, value in settings.items()))
    return file


def invitation(cluster: Cluster, sandbox: Sandbox) -> str:
    """Addresses and commands, for a second terminal in the checkout."""
    return f"""\
The cluster stays up until Ctrl-C. In another terminal, in this folder:

  coordinator   {cluster.settings.origin}/api/v1/openapi.json
  marketplaces  {sandbox.url}/control/accounts

  . {shown(write_environment(cluster))}
  .venv/bin/coordinator status
  .venv/bin/coordinator accounts list
  .venv/bin/coordinator policy show
  {shown(cluster.mysql.programs)}/mysql --socket={cluster.mysql.socket} --user=root marketplace
  kill -9 {cluster.servers["server-1"].pid}   # server-1; watch status

"""
