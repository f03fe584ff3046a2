"""`python -m deploy.sandbox --port N --config FILE`: the sandbox under gunicorn, until it is told to end."""

import os
import sys
from pathlib import Path

import click
import msgspec

from deploy.sandbox.settings import load


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(1, 65535), help="Port to listen on.")
@click.option("--fd", type=click.IntRange(3), help="Inherited socket that listens already, instead of a port.")
@click.option("--config", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=True)
@click.option("--threads", type=click.IntRange(1, 256), default=32, show_default=True)
def main(host: str, port: int | None, fd: int | None, config: Path, threads: int) -> None:
    """Serve the simulated marketplaces of a configuration file.

    One process, since catalogues, limits and counts live in its memory. It becomes gunicorn itself, so that signals
    reach the right one.
    """
    if (port is None) == (fd is None):
        raise click.UsageError("Give either --port or --fd.")
    try:
        load(config)
    except msgspec.DecodeError as error:
        raise click.ClickException(f"{config}: {error}") from error
    served = f"deploy.sandbox.app:from_file({str(config.resolve())!r})"
    options = {
        "--bind": f"{host}:{port}" if fd is None else f"fd://{fd}",
        "--workers": "1",
        "--worker-class": "gthread",
        "--threads": str(threads),
        "--keep-alive": "75",
        "--graceful-timeout": "2",
        "--log-level": "warning",
    }
    arguments = [sys.executable, "-m", "gunicorn", "--no-control-socket"]
    arguments += [word for option in options.items() for word in option]
    os.execv(sys.executable, [*arguments, served])  # noqa: S606 - no shell is wanted: it takes over this process


if __name__ == "__main__":
    main()
