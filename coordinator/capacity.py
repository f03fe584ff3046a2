"""Capacity: a server has as many slots as the policy says; surplus ones leave as soon as they are free."""

from coordinator.database import Transaction


def follow_policy(tx: Transaction, server_id: str, slots_per_server: int) -> None:
    """Bring a server's slots to 1 … ``slots_per_server``; the caller holds the server's row.

    Writes nothing when they are so already, which is what nearly every heartbeat finds.
    """
    slots = {row["slot_no"]: row["task_id"] for row in tx.all("slot_list", server_id=server_id)}
    missing = [slot_no for slot_no in range(1, slots_per_server + 1) if slot_no not in slots]
    tx.many("slot_insert", [{"slot_no": slot_no} for slot_no in missing], server_id=server_id)
    surplus = [slot_no for slot_no, task_id in slots.items() if slot_no > slots_per_server and task_id is None]
    if surplus:
        tx.execute("slot_delete", server_id=server_id, slot_nos=sorted(surplus))
