"""The report: its members, and what counts as a stale rejection."""

import json
from pathlib import Path

from deploy.cluster.report import Report, stale_rejections

MEMBERS = [
    "accounts",
    "accounts_crawled",
    "listings_expected",
    "listings_stored",
    "missing",
    "unexpected",
    "different",
    "duplicates",
    "elections",
    "reassignments",
    "stale_rejections",
    "seconds",
    "rows_per_second",
    "peak_worker_rss_mb",
    "coordinator_url",
]


def test_it_is_one_json_object_with_exactly_these_members(tmp_path: Path) -> None:
    report = Report(**{name: "u" if name == "coordinator_url" else 1 for name in MEMBERS})
    report.write(tmp_path / "report.json")
    assert list(json.loads((tmp_path / "report.json").read_text())) == MEMBERS


def test_refusals_of_former_owners_and_leaders_count_and_others_do_not(tmp_path: Path) -> None:
    log = tmp_path / "coordinator.log"
    codes = ["stale_task_owner", "stale_fencing_token", "lease_expired", "signature_invalid", "batch_gap"]
    lines = [json.dumps({"event": "request", "status": 409, "code": code}) for code in codes]
    lines += ['{"event": "request", "status": 200}', "Traceback", '{"code": "stale_task_owner"', '"code"']
    log.write_text("\n".join(lines))
    assert stale_rejections(log) == 3
