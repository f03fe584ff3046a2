"""The declarative connector: requests are built safely, pages are read wholly or not at all."""

from urllib.parse import parse_qsl, urlsplit

import msgspec
import pytest

from shared.listing import MAX_CURSOR_BYTES, Reject
from shared.states import Enumeration
from tests.unit.worker.connectors.example import ACCOUNT, DOCUMENT, NOW, connector, response
from worker.connectors.failures import (
    AccountMisconfigured,
    CursorTooLong,
    CursorUnreadable,
    Misdirected,
    PageUnreadable,
)
from worker.connectors.rest.connector import RestConnector
from worker.connectors.seam import Account, Cursor, Page

CONNECTOR = connector()
TOKENS = connector(paging={"strategy": "token", "token_param": "cursor", "next_path": "next"})
FIRST = CONNECTOR.first(ACCOUNT, 100)


def page(document: object, made: RestConnector = CONNECTOR) -> Page:
    return made.parse(made.first(ACCOUNT, 10), response(msgspec.json.encode(document)))


def test_asks_for_the_first_page() -> None:
    parts = urlsplit(FIRST.url)

    assert f"{parts.scheme}://{parts.netloc}{parts.path}" == "https://api.example.test/v1/sellers/42/items"
    assert parse_qsl(parts.query) == [("order", "id"), ("site", "tr"), ("page", "1"), ("size", "50")]
    assert FIRST.headers == {
        "accept": "application/json",
        "user-agent": "shop-1 - tests",
        "authorization": "Basic azpz",
    }


def test_asks_for_no_more_than_either_side_allows() -> None:
    sizes = [dict(parse_qsl(urlsplit(CONNECTOR.first(ACCOUNT, size).url).query))["size"] for size in (7, 50, 100)]

    assert sizes == ["7", "50", "50"]


def test_checks_credentials_with_one_record() -> None:
    assert dict(parse_qsl(urlsplit(CONNECTOR.check(ACCOUNT).url).query))["size"] == "1"


@pytest.mark.parametrize(
    ("auth", "headers"),
    [
        ({"kind": "none"}, {}),
        ({"kind": "bearer", "token": "{credentials.key}"}, {"authorization": "Bearer k"}),
        (
            {"kind": "header", "headers": {"appKey": "{credentials.key}", "appSecret": "{credentials.secret}"}},
            {"appkey": "k", "appsecret": "s"},
        ),
        ({"kind": "basic", "username": "ü", "password": "{credentials.key}"}, {"authorization": "Basic w7w6aw=="}),
    ],
)
def test_authenticates(auth: dict[str, object], headers: dict[str, str]) -> None:
    sent = connector(auth=auth, headers={}).first(ACCOUNT, 10).headers

    assert dict(sent) == {"accept": "application/json"} | headers


def test_percent_encodes_settings_in_path_and_query() -> None:
    account = Account("shop-1", {"seller_id": "a/b?c#d %2e☕", "site": "x&y=z"}, ACCOUNT.credentials)
    parts = urlsplit(CONNECTOR.first(account, 10).url)

    assert parts.path == "/v1/sellers/a%2Fb%3Fc%23d%20%252e%E2%98%95/items"
    assert dict(parse_qsl(parts.query))["site"] == "x&y=z"


@pytest.mark.parametrize("value", ["..", ".", "", None, True, 1.5, [], "a\r\nx-evil: 1", "a\x00"])
def test_refuses_settings_that_could_lead_elsewhere(value: object) -> None:
    account = Account("shop-1", {"seller_id": value, "site": "tr"}, ACCOUNT.credentials)

    with pytest.raises(AccountMisconfigured, match=r"settings\.seller_id") as caught:
        CONNECTOR.first(account, 10)
    assert not caught.value.of_credentials


def test_refuses_a_header_that_would_not_be_ascii() -> None:
    with pytest.raises(AccountMisconfigured, match="user-agent"):
        CONNECTOR.first(Account("Çarşı", ACCOUNT.settings, ACCOUNT.credentials), 10)


def test_names_all_that_is_missing_and_no_value() -> None:
    account = Account("shop-1", {"site": ["hush"]}, {"key": {"hush": 1}})

    with pytest.raises(AccountMisconfigured) as caught:
        CONNECTOR.first(account, 10)

    assert [problem.split()[0] for problem in caught.value.problems] == [
        "credentials.key",
        "credentials.secret",
        "settings.seller_id",
        "settings.site",
    ]
    assert caught.value.of_credentials
    assert "hush" not in str(caught.value)


def test_reads_a_page_and_goes_on() -> None:
    read = page({"items": [{"id": 1}, {"id": 2}], "total": 9, "size": 2, "last": False})

    assert list(read.records) == [{"id": 1}, {"id": 2}]
    assert (read.total, read.server_page_size, read.end) == (9, 2, None)
    assert read.next is not None
    assert read.next.issued_at == NOW
    resumed = connector().resume(ACCOUNT, Cursor.decode(read.next.encode()))
    assert dict(parse_qsl(urlsplit(resumed.url).query)) | {} == {"order": "id", "site": "tr", "page": "2", "size": "2"}


@pytest.mark.parametrize(
    ("document", "stable", "end"),
    [
        ({"items": [{}], "last": True}, True, Enumeration.PROVEN),
        ({"items": [], "last": True}, True, Enumeration.PROVEN),
        ({"items": [{}], "last": True}, False, Enumeration.GUESSED),
        ({"items": [{}], "total": 1}, True, Enumeration.GUESSED),
        ({"items": []}, True, Enumeration.GUESSED),
    ],
)
def test_an_end_is_proven_only_by_the_marketplaces_word_in_a_stable_order(
    document: dict[str, object], end: Enumeration, *, stable: bool
) -> None:
    made = connector(capabilities={**DOCUMENT["capabilities"], "stable_sort": stable})
    read = page(document, made)

    assert (read.next, read.end) == (None, end)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "<html><body>Maintenance</body></html>",
        '{"items": [{"id": 1}',
        "null",
        "[]",
        "{}",
        '{"items": null, "last": true}',
        '{"items": {}, "last": true}',
        '{"error": "try later"}',
    ],
)
def test_what_is_no_page_is_never_an_empty_one(body: str) -> None:
    with pytest.raises(PageUnreadable):
        CONNECTOR.parse(FIRST, response(body))


@pytest.mark.parametrize(
    ("total", "read"),
    [(0, 0), (25, 25), ("25", 25), (None, None), ("many", None), (-1, None), (True, None), (2**31, None), (1.5, None)],
)
def test_a_total_that_makes_no_sense_says_nothing(total: object, read: int | None) -> None:
    assert page({"items": [{}], "total": total, "last": True}).total == read


def test_a_total_of_zero_ends_an_empty_account() -> None:
    assert page({"items": [], "total": 0}).next is None


def test_equal_pages_have_equal_fingerprints_whatever_surrounds_them() -> None:
    one = page({"items": [{"id": 1}], "last": False, "at": 1})
    again = page({"items": [{"id": 1}], "last": True, "at": 2})
    other = page({"items": [{"id": 2}], "last": False, "at": 1})

    assert one.fingerprint == again.fingerprint != other.fingerprint
    assert page({"items": [], "last": True}).fingerprint is None


def test_a_record_with_values_that_json_does_not_know_still_makes_a_page() -> None:
    read = CONNECTOR.parse(FIRST, response('{"items": [{"id": 1, "price": NaN, "title": "\\ud83c"}], "last": true}'))

    assert read.fingerprint is not None


@pytest.mark.parametrize(("length", "fits"), [(3_900, True), (MAX_CURSOR_BYTES, False)])
def test_a_token_that_no_checkpoint_can_hold_is_refused(length: int, *, fits: bool) -> None:
    document = {"items": [{}], "next": "t" * length}

    if fits:
        assert page(document, TOKENS).next is not None
    else:
        with pytest.raises(CursorTooLong):
            page(document, TOKENS)


def test_a_cursor_is_measured_in_bytes() -> None:
    with pytest.raises(CursorTooLong):
        page({"items": [{}], "next": "ü" * (MAX_CURSOR_BYTES // 2)}, TOKENS)


@pytest.mark.parametrize("around", [200, 1000, 5000])
def test_deep_nesting_is_a_page_or_unreadable_and_nothing_else(around: int) -> None:
    for depth in range(around - 60, around + 1):
        body = b'{"items":[{"id":1,"title":' + b"[" * depth + b"]" * depth + b'}],"last":true}'
        try:
            read = CONNECTOR.parse(FIRST, response(body))
        except PageUnreadable:
            continue
        outcome = CONNECTOR.normalize(read.records[0])
        assert isinstance(outcome, Reject)
        assert len(outcome.detail) <= 512


def test_a_cursor_of_another_strategy_is_refused() -> None:
    following = page({"items": [{}], "next": "t"}, TOKENS).next
    assert following is not None

    with pytest.raises(CursorUnreadable):
        CONNECTOR.resume(ACCOUNT, following)


def test_a_link_out_of_the_origin_is_refused_while_parsing() -> None:
    links = connector(paging={"strategy": "link", "next_path": "next"})

    with pytest.raises(Misdirected):
        page({"items": [{}], "next": "https://evil.test/v1/items"}, links)


def test_a_followed_link_stays_below_the_origin() -> None:
    links = connector(paging={"strategy": "link", "next_path": "next"})
    following = page({"items": [{}], "next": "/v1/items?after=%2B1"}, links).next
    assert following is not None

    assert links.resume(ACCOUNT, following).url == "https://api.example.test/v1/items?after=%2B1"
