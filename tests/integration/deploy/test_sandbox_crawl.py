"""The shipped descriptions against the running sandbox: what is crawled is what is sold, record by record."""

from collections.abc import Iterator

import pytest

from shared.states import Enumeration
from tests.integration.deploy.sandbox import CODES, Sandbox, crawl, running
from worker.connectors.seam import Account, Action, Cursor

SIZES = {"empty": 0, "one": 1, "exact": 200, "odd": 353}
PROVEN = {"bazaar", "meridian", "quayside"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    accounts = [
        {"marketplace_code": code, "account_ref": ref, "size": size} for code in CODES for ref, size in SIZES.items()
    ]
    with running(tmp_path_factory.mktemp("sandbox"), {"seed": 11, "accounts": accounts}) as sandbox:
        yield sandbox


@pytest.fixture
def sandbox(server: Sandbox) -> Sandbox:
    """The module's sandbox with every marketplace on its best behaviour."""
    for code in CODES:
        server.conduct(code)
    return server


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("ref", SIZES)
def test_a_crawl_finds_exactly_what_is_sold(sandbox: Sandbox, code: str, ref: str) -> None:
    found = crawl(sandbox, sandbox.connectors()[code], sandbox.account(code, ref))

    assert len(found.listings) == SIZES[ref]
    assert found.listings == sandbox.expected(code, ref)
    assert found.end is (Enumeration.PROVEN if code in PROVEN else Enumeration.GUESSED)


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("clamp", [1, 30, 64])
def test_a_clamped_page_size_loses_nothing(sandbox: Sandbox, code: str, clamp: int) -> None:
    ref = "odd" if clamp > 1 else "one"
    sandbox.conduct(code, page_size_limit=clamp)

    found = crawl(sandbox, sandbox.connectors()[code], sandbox.account(code, ref))

    assert found.listings == sandbox.expected(code, ref)
    assert max(found.page_sizes) <= clamp


@pytest.mark.parametrize("code", CODES)
def test_a_crawl_resumes_at_every_page(sandbox: Sandbox, code: str) -> None:
    sandbox.conduct(code, page_size_limit=60)
    account = sandbox.account(code, "odd")
    whole = crawl(sandbox, sandbox.connectors()[code], account)

    assert len(whole.cursors) >= 5
    for number, cursor in enumerate(whole.cursors, start=1):
        elsewhere = sandbox.connectors()[code]
        rest = crawl(sandbox, elsewhere, account, Cursor.decode(cursor.encode()))
        assert rest.listings == whole.listings[sum(whole.page_sizes[:number]) :], f"resumed behind page {number}"
        assert rest.end is whole.end


@pytest.mark.parametrize("code", CODES)
def test_credentials_are_really_checked(sandbox: Sandbox, code: str) -> None:
    connector, good = sandbox.connectors()[code], sandbox.account(code, "one")
    other = sandbox.account(code, "odd")
    forged = dict.fromkeys(good.credentials, "forged")
    stolen = Account(good.account_ref, other.settings, good.credentials)

    assert connector.classify(sandbox.fetch(connector.check(good))).action is Action.OK
    refused = connector.classify(sandbox.fetch(connector.check(Account("one", good.settings, forged))))
    assert (refused.action, refused.code) == (Action.REFRESH_AUTH, "bad_credentials")
    if good.settings:
        assert connector.classify(sandbox.fetch(connector.check(stolen))).action is Action.REFRESH_AUTH


def test_bazaar_refuses_a_client_that_does_not_say_who_it_is(sandbox: Sandbox) -> None:
    account = sandbox.account("bazaar", "one")
    key, secret = str(account.credentials["key"]), str(account.credentials["secret"])

    answer = sandbox.http.get(f"{sandbox.url}/bazaar/sellers/one/products", auth=(key, secret))

    assert answer.status_code == 403


@pytest.mark.parametrize("code", CODES)
def test_failures_are_retried_to_the_same_result(sandbox: Sandbox, code: str) -> None:
    sandbox.conduct(code, page_size_limit=20, error_rate=0.4)

    found = crawl(sandbox, sandbox.connectors()[code], sandbox.account(code, "odd"), after_trouble=lambda: None)

    assert found.listings == sandbox.expected(code, "odd")
    assert found.troubles
    assert {verdict.action for verdict in found.troubles} == {Action.RETRY}


@pytest.mark.parametrize("code", CODES)
def test_throttling_is_recognised_and_loses_nothing(sandbox: Sandbox, code: str) -> None:
    sandbox.conduct(code, rate_limit={"requests": 2, "seconds": 3600, "retry_after": "7"})

    found = crawl(
        sandbox, sandbox.connectors()[code], sandbox.account(code, "odd"), after_trouble=lambda: sandbox.conduct(code)
    )

    assert found.listings == sandbox.expected(code, "odd")
    assert [(verdict.action, verdict.wait_seconds) for verdict in found.troubles] == [(Action.RATE_LIMITED, 7.0)]


@pytest.mark.parametrize(
    ("form", "least", "most"),
    [
        ("seconds", 1800, 2400),  # what is left of 40 minutes: on a busy machine some of it has passed
        ("fraction", 1800, 2400),
        ("date", 1800, 2402),
        ("absent", 30, 30),
        ("-5", 30, 30),
        ("0", 1, 1),
        ("1m0s", 60, 60),
        ("30,120", 120, 120),
        ("99999999999", 3600, 3600),
    ],
)
def test_every_form_of_retry_after_ends_as_a_bounded_wait(
    sandbox: Sandbox, form: str, least: float, most: float
) -> None:
    sandbox.conduct("harbour", rate_limit={"requests": 1, "seconds": 2400, "retry_after": form})
    connector = sandbox.connectors()["harbour"]
    request = connector.first(sandbox.account("harbour", "odd"), 100)
    verdicts = [connector.classify(sandbox.fetch(request)) for _ in range(2)]

    assert verdicts[-1].action is Action.RATE_LIMITED
    assert verdicts[-1].wait_seconds is not None
    assert least <= verdicts[-1].wait_seconds <= most


def test_a_cursor_that_expired_or_was_forged_resets_paging(sandbox: Sandbox) -> None:
    connector = sandbox.connectors()["meridian"]
    whole = crawl(sandbox, connector, account := sandbox.account("meridian", "odd"))
    request = connector.resume(account, whole.cursors[0])
    assert connector.classify(sandbox.fetch(request)).action is Action.OK

    sandbox.conduct("meridian", cursor_ttl_seconds=0)
    expired = connector.classify(sandbox.fetch(request))
    sandbox.conduct("meridian")
    forged = connector.resume(account, Cursor(whole.cursors[0].position.replace('{"token":"', '{"token":"AAAA'), 0.0))
    foreign = connector.resume(sandbox.account("meridian", "exact"), whole.cursors[0])

    assert (expired.action, expired.code) == (Action.RESET_PAGING, "cursor_expired")
    assert connector.classify(sandbox.fetch(forged)).action is Action.RESET_PAGING
    assert connector.classify(sandbox.fetch(foreign)).action is Action.RESET_PAGING
