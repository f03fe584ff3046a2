"""Who this daemon is: its server_id, held by a file lock, and a boot_id that is fresh at each start."""

import re
import socket
import uuid
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

_MACHINE_ID_FILES = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))
_MACHINE_ID = re.compile(r"[0-9a-f]{32}")


class ServerIdLockedError(Exception):
    """Another daemon on this machine holds the server_id, or there is no place to hold it by."""


@dataclass(frozen=True)
class Identity:
    """One start of one server's daemon, as it registers."""

    server_id: str
    boot_id: str
    machine_id: str
    hostname: str

    @classmethod
    def fresh(cls, server_id: str) -> "Identity":
        """An identity with a new boot_id."""
        return cls(server_id, str(uuid.uuid4()), machine_id(), socket.gethostname()[:255] or "unnamed")


def machine_id() -> str:
    """The machine's own identity (machine-id(5)), or one made of its network address where it has none."""
    for file in _MACHINE_ID_FILES:
        try:
            text = file.read_text("ascii").strip()
        except (OSError, UnicodeDecodeError):
            continue
        if _MACHINE_ID.fullmatch(text):
            return text
    return f"{uuid.getnode():012x}"


def hold(server_id: str, state_folder: Path) -> FileLock:
    """Hold the server_id for as long as this process lives; the kernel lets go of it, however the process ends.

    Raises ``ServerIdLockedError`` at once when another process has it, or when the folder cannot be written.
    """
    lock = FileLock(state_folder / f"{server_id}.lock")
    try:
        state_folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout as error:
        raise ServerIdLockedError(
            f"another daemon runs as {server_id} on this machine (it holds {lock.lock_file}):"
            " stop it, or give this one a server_id of its own"
        ) from error
    except OSError as error:
        raise ServerIdLockedError(f"state_folder: {state_folder} cannot be written: {error.strerror}") from error
    return lock
