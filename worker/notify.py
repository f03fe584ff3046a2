"""Telling systemd how the daemon is (sd_notify(3)): one datagram, and nothing where nobody listens."""

import os
import socket
from collections.abc import Mapping


def notify(environ: Mapping[str, str] = os.environ, **assignments: str) -> bool:
    """Send assignments such as ``READY="1"``; returns whether somebody took them. Never raises."""
    address = environ.get("NOTIFY_SOCKET", "")
    if not address:
        return False
    if address.startswith("@"):
        address = f"\0{address[1:]}"
    message = "\n".join(f"{name}={value}" for name, value in assignments.items())
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as channel:
            channel.sendto(message.encode(), address)
    except OSError:
        return False
    return True
