"""``coordinator serve``: the application under gunicorn, threads in a few processes."""

import logging
import socket
import struct
import sys
from dataclasses import replace
from typing import Any

import click
from flask import Flask
from gunicorn import glogging
from gunicorn.app.base import BaseApplication
from gunicorn.workers.gthread import ThreadWorker

from coordinator.api.application import create_app
from coordinator.commands.check import problems
from coordinator.commands.session import Session
from coordinator.configuration import Configuration, ConfigurationError
from shared import logs

_STALL_TIME = struct.pack("ll", 5, 0)
"""Five seconds as a ``struct timeval``."""


class JsonLogger(glogging.Logger):
    """Hands gunicorn's lines to the process's own log; requests are logged by the application."""

    def setup(self, cfg: Any) -> None:
        """Add no handlers of gunicorn's."""
        self.cfg = cfg
        self.loglevel = logging.INFO
        self.error_log.handlers.clear()
        self.error_log.propagate = True

    def access(self, resp: Any, req: Any, environ: Any, request_time: Any) -> None:
        """Nothing."""


class ImpatientWorker(ThreadWorker):
    """Gives a request up whose next bytes do not come for 5 s: a peer that vanished in its middle says nothing more.

    The kernel keeps the time (``SO_RCVTIMEO``, and for answers ``SO_SNDTIMEO``), since gunicorn makes the socket wait
    for ever. Whoever sends a byte now and then is the proxy's business.
    """

    def handle(self, conn: Any) -> Any:
        """Handle a request in a thread of the pool."""
        for direction in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            conn.sock.setsockopt(socket.SOL_SOCKET, direction, _STALL_TIME)
        return super().handle(conn)


class Server(BaseApplication):
    """Gunicorn with settings of ours and none from files or the environment.

    The application is made in each worker process, after the fork: no connection is ever shared.
    """

    def __init__(self, configuration: Configuration, settings: dict[str, Any]) -> None:
        self._configuration = configuration
        self._settings = settings
        super().__init__()

    def load_config(self) -> None:
        """Take the settings."""
        for name, value in self._settings.items():
            self.cfg.set(name, value)
        if "control_socket_disable" in self.cfg.settings:
            self.cfg.set("control_socket_disable", True)

    def load(self) -> Flask:
        """The application of one worker process."""
        return create_app(self._configuration)


@click.command()
@click.option("--bind", default="127.0.0.1:8080", show_default=True, help="HOST:PORT, or unix:PATH behind a proxy.")
@click.option("--workers", default=2, show_default=True, type=click.IntRange(1, 64), help="Processes.")
@click.option("--threads", default=8, show_default=True, type=click.IntRange(1, 128), help="Threads of each process.")
@click.option("--graceful-timeout", default=30, show_default=True, type=click.IntRange(1, 600), help="Seconds.")
@click.pass_obj
def serve(session: Session, bind: str, workers: int, threads: int, graceful_timeout: int) -> None:
    """Serve the API until SIGTERM, after which running requests may end. Refuses to start where `check` does."""
    if found := problems(session):
        raise ConfigurationError(found)
    session.database.dispose()
    configuration = session.configuration
    logs.configure(sys.stderr, configuration.log_level)
    # A thread uses one connection at a time.
    pool_size = max(configuration.database.pool_size, threads)
    configuration = replace(configuration, database=replace(configuration.database, pool_size=pool_size))
    settings = {
        "bind": bind,
        "workers": workers,
        "worker_class": ImpatientWorker,
        "threads": threads,
        "graceful_timeout": graceful_timeout,
        "keepalive": 30,
        "logger_class": JsonLogger,
        "proc_name": "coordinator",
        "preload_app": False,
    }
    Server(configuration, settings).run()
