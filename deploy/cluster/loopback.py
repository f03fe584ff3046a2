"""Ports of this machine, and whether something answers there."""

import socket

import requests

_PROBE_SECONDS = 2.0


def free_port() -> int:
    """A port of 127.0.0.1 that is free now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def answers(url: str) -> bool:
    """Whether a GET is answered with success."""
    with requests.Session() as session:
        session.trust_env = False
        try:
            return session.get(url, timeout=_PROBE_SECONDS, allow_redirects=False).status_code == 200
        except requests.RequestException:
            return False
