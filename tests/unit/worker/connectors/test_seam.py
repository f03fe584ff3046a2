"""Cursors survive their journey through a checkpoint; anything else in their place is refused."""

import pytest

from worker.connectors.failures import CursorUnreadable
from worker.connectors.seam import Account, Cursor, PageRequest


@pytest.mark.parametrize("position", ["", "abc", '{"token":"🎁\\"\\u0000","size":1}'])
def test_a_cursor_survives_its_journey(position: str) -> None:
    cursor = Cursor(position, 1_800_000_000.25)

    assert Cursor.decode(cursor.encode()) == cursor


@pytest.mark.parametrize(
    "token",
    [
        "",
        "null",
        "[]",
        "{}",
        '{"position":"a"}',
        '{"position":1,"issued_at":1}',
        '{"position":"a","issued_at":1,"x":1}',
    ],
)
def test_a_foreign_token_is_refused(token: str) -> None:
    with pytest.raises(CursorUnreadable):
        Cursor.decode(token)


def test_secrets_are_not_shown() -> None:
    account = Account("shop-1", {}, {"key": "hush"})
    request = PageRequest("https://shop.test/", {"authorization": "hush"}, Cursor("", 0.0))

    assert "hush" not in repr(account) + repr(request)
