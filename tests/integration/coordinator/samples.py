"""What the statements of ``coordinator/queries`` are asked with when their plans are looked at.

By the name of the parameter, the same for all statements. Rows with these values exist in the populated database.
"""

from __future__ import annotations

import uuid
from typing import Any

from tests.integration.coordinator.populated import EPOCH_SECONDS, NOW, RUNNING, active_task_of, ago, boot

VALUES: dict[str, Any] = {
    "account_id": 700,
    "account_ref": "seller-1",
    "acquired_at": ago(seconds=30),
    "actor": "operator-1",
    "after": 100,
    "batch_no": 1,
    "before": ago(hours=80),
    "boot_id": uuid.UUID(bytes=boot(1)),
    "cpu_percent": 1,
    "created": EPOCH_SECONDS,
    "created_before": EPOCH_SECONDS - 300,
    "database": "information_schema",
    "dispatch_key": ago(hours=12 - 700 / 55),
    "due_at": ago(hours=12 - 700 / 55),
    "fencing_token": 1,
    "heard_after": ago(seconds=120),
    "horizon": ago(seconds=-125),
    "kept": 50,
    "key_id": "key-1",
    "late_after": 2,
    "limit": 50,
    "listing_refs": [f"listing-{number}" for number in range(100)],
    "marketplace_code": "market-1",
    "marketplace_codes": ["market-1", "market-2", "market-3"],
    "not_after": ago(seconds=60),
    "now": NOW,
    "owner": "server-1",
    "plan_id": uuid.UUID(int=1),
    "partner_codes": ["partner-1", "partner-2", "partner-3"],
    "partner_id": 2,
    "rss_bytes": 1,
    "running_tasks": 1,
    "server_id": "server-1",
    "size": 720,
    "size_class": "small",
    "slot_no": 1,
    "slot_nos": [3],
    "state": "running",
    "task_id": active_task_of(3),
    "task_ids": [active_task_of(number) for number in range(RUNNING + 1, RUNNING + 11)],
}
