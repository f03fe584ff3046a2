"""The document with which ``coordinator accounts import`` makes the profile's accounts known."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from deploy.cluster.profile import SeededAccount
from deploy.sandbox.identity import identity
from deploy.sandbox.market import CODES


def write_import_file(file: Path, accounts: Iterable[SeededAccount], seed: int) -> None:
    """Write the sandbox's marketplaces, and the accounts as the sandbox of that seed admits them. Mode 0600."""
    document = {
        "marketplaces": [{"code": code, "name": code.capitalize()} for code in CODES],
        "accounts": [_account(account, seed) for account in accounts],
    }
    file.touch(mode=0o600)
    file.write_bytes(msgspec.json.encode(document))


def _account(account: SeededAccount, seed: int) -> dict[str, Any]:
    known = identity(seed, account.marketplace_code, account.account_ref)
    return {
        "partner": account.partner_code,
        "marketplace": account.marketplace_code,
        "account_ref": account.account_ref,
        "settings": known.settings,
        "credentials": known.credentials,
    }
