"""How much memory a process has needed."""

from pathlib import Path

_KIB_PER_MIB = 1024


def peak_rss_mb(pid: int) -> float:
    """The most that a process has had in memory so far, in MiB (VmHWM of proc_pid_status(5)); 0 once it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return next((int(line.split()[1]) / _KIB_PER_MIB for line in lines if line.startswith("VmHWM:")), 0.0)
