"""What the statements of ``coordinator/queries`` are asked with when their plans are looked at.

By the name of the parameter, the same for all statements. Rows with these values exist in the populated database.
"""

from __future__ import annotations

import uuid
from typing import Any

from tests.integration.coordinator.populated import EPOCH_SECONDS, NOW, active_task_of, boot

VALUES: dict[str, Any] = {
    "account_id": 700,
    "actor": "operator-1",
    "boot_id": uuid.UUID(bytes=boot(1)),
    "created": EPOCH_SECONDS,
    "created_before": EPOCH_SECONDS - 300,
    "database": "information_schema",
    "key_id": "key-1",
    "limit": 50,
    "marketplace_code": "market-1",
    "now": NOW,
    "owner": "server-1",
    "server_id": "server-1",
    "size_class": "small",
    "slot_no": 1,
    "task_id": active_task_of(3),
}
