"""The rows that the gate's table must have, and which part of the gate tries each.

A promise that nobody tried is broken as far as anybody knows: without one run, a row counts as a violation.
"""

from __future__ import annotations

GROUPS = ("scenarios", "soak", "guards", "chaos")
"""What can be run alone, in the order in which it runs."""

MANDATORY = {
    "initial election": "scenarios",
    "failover boundaries": "scenarios",
    "stale fencing on every leader call": "scenarios",
    "concurrent plan": "scenarios",
    "concurrent acquire": "scenarios",
    "heartbeat lease boundaries": "scenarios",
    "retries and exhaustion": "scenarios",
    "checkpoint regression": "scenarios",
    "reassignment with the old owner writing": "scenarios",
    "idempotent completion": "scenarios",
    "HMAC replay and tamper": "scenarios",
    "traces of the model checker": "scenarios",
    "contract": "scenarios",
    "invariant checker": "scenarios",
    "history checker": "scenarios",
    "crash points": "scenarios",
    "model test": "scenarios",
    "process faults": "scenarios",
    "network faults": "scenarios",
    "database faults": "scenarios",
    "clock skew": "scenarios",
    "cases seen in the wild": "scenarios",
    "deadlock rate": "scenarios",
    "soak": "soak",
    "quickstart with chaos": "chaos",
    "guard removal": "guards",
}
"""The names of the rows, each with the group that it belongs to."""
