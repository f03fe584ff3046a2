"""A description with faults is refused with all of them, each by its field and with a remedy."""

from collections.abc import Mapping

import pytest

from tests.unit.worker.connectors.example import DOCUMENT, connector, document
from worker.connectors.rest.reading import read
from worker.connectors.rest.tables import DescriptionInvalid
from worker.connectors.seam import Capabilities, RateLimit


def faults(changed: Mapping[str, object]) -> dict[str, str]:
    """The violations by field."""
    with pytest.raises(DescriptionInvalid) as caught:
        read(changed, "example.toml")
    assert str(caught.value).startswith("example.toml: ")
    return {violation.field: violation.remedy for violation in caught.value.violations}


def test_the_example_is_without_fault() -> None:
    spec = connector().spec

    assert spec.marketplace_code == "example"
    assert spec.origin == "https://api.example.test/v1"
    assert spec.cursor_format == "rest-page/1.3"
    assert spec.capabilities == Capabilities(50, stable_sort=True, cursor_survives=True, cursor_ttl_seconds=300.0)
    assert spec.rate_limit == RateLimit("account", 50, 10.0)


def test_a_change_of_strategy_or_version_changes_the_cursor_format() -> None:
    formats = {
        connector(paging=paging, version=version).spec.cursor_format
        for version in (1, 2)
        for paging in (
            DOCUMENT["paging"],
            {"strategy": "offset"},
            {"strategy": "token", "token_param": "t", "next_path": "n"},
            {"strategy": "link"},
        )
    }
    assert len(formats) == 8


def test_an_empty_description_names_everything_that_is_missing() -> None:
    assert set(faults({})) == {
        "auth",
        "auth.kind",
        "capabilities",
        "capabilities.cursor_survives",
        "capabilities.max_page_size",
        "capabilities.stable_sort",
        "code",
        "fields",
        "fields.listing_ref",
        "origin",
        "paging",
        "paging.strategy",
        "path",
        "records",
        "records.path",
    }


FAULTS: list[tuple[dict[str, object], str, str]] = [
    ({"code": "Has Blanks"}, "code", "lower-case"),
    ({"code": "x" * 33}, "code", "at most 32"),
    ({"code": 7}, "code", "must be a text"),
    ({"version": 0}, "version", "at least 1"),
    ({"version": True}, "version", "whole number"),
    ({"origin": "api.example.test"}, "origin", "must be a URL"),
    ({"origin": "http://api.example.test"}, "origin", "must be https"),
    ({"origin": "http://127.0.0.1.example.test"}, "origin", "must be https"),
    ({"origin": "https://user:pw@api.example.test"}, "origin", "no user"),
    ({"origin": "https://api.example.test/?a=b"}, "origin", "query"),
    ({"origin": "https://api.example.test:99999"}, "origin", "ort"),
    ({"origin": None}, "origin", "is missing"),
    ({"path": "items"}, "path", "start with a slash"),
    ({"path": "/items?x=1"}, "path", "no query"),
    ({"path": "/../items"}, "path", "dot segment"),
    ({"path": "/{seller}/items"}, "path", "{settings.NAME}"),
    ({"path": "/{credentials.key}/items"}, "path", "[auth] only"),
    ({"path": "/{settings.a/items"}, "path", "unpaired brace"),
    ({"params": {"key": "{credentials.key}"}}, "params.key", "[auth] only"),
    ({"params": {"size": 5}}, "params.size", "must be a text"),
    ({"headers": {"X-Key": "{credentials.key}"}}, "headers.X-Key", "[auth] only"),
    ({"headers": {"X Key": "a"}}, "headers.X Key", "no name of a header"),
    ({"headers": {"X-Key": "a\nb"}}, "headers.X-Key", "printable ASCII"),
    ({"headers": {"X-Key": "ü"}}, "headers.X-Key", "printable ASCII"),
    ({"auth": {"kind": "digest"}}, "auth.kind", "one of none, basic, header, bearer"),
    ({"auth": {"kind": "basic", "username": "a"}}, "auth.password", "is missing"),
    ({"auth": {"kind": "bearer", "token": "{token}"}}, "auth.token", "{credentials.NAME}"),
    ({"auth": {"kind": "bearer", "token": "t", "tokn": "t"}}, "auth.tokn", "is unknown"),
    ({"auth": {"kind": "header"}}, "auth.headers", "is missing"),
    ({"auth": "basic"}, "auth", "must be a table"),
    ({"paging": {"strategy": "cursor"}}, "paging.strategy", "page, offset, token, link"),
    ({"paging": {"strategy": "page"}}, "paging.first_page", "is missing"),
    ({"paging": {"strategy": "token", "token_param": "t"}}, "paging.next_path", "is missing"),
    ({"paging": {"strategy": "link", "token_param": "t"}}, "paging.token_param", "is unknown"),
    (
        {"paging": {"strategy": "offset", "last_path": "a", "more_path": "b"}},
        "paging.more_path",
        "keep one of them",
    ),
    ({"records": {}}, "records.path", "is missing"),
    ({"records": {"path": "a", "total": "b"}}, "records.total", "total_path"),
    ({"fields": {"title": {"path": "t"}}}, "fields.listing_ref", "is missing"),
    ({"fields": {"listing_ref": {}}}, "fields.listing_ref.path", "is missing"),
    ({"fields": {"listing_ref": "id"}}, "fields.listing_ref", "must be a table"),
    ({"fields": {"listing_ref": {"path": "id"}, "prize": {"path": "p"}}}, "fields.prize", "is unknown"),
    (
        {"fields": {"listing_ref": {"path": "id"}, "price": {"path": "p", "format": "1 234,56"}}},
        "fields.price.format",
        "1.234,56",
    ),
    (
        {"fields": {"listing_ref": {"path": "id"}, "title": {"path": "t", "format": "1.234,56"}}},
        "fields.title.format",
        "is unknown",
    ),
    (
        {"fields": {"listing_ref": {"path": "id"}, "status": {"path": "s", "active": "ON"}}},
        "fields.status.active",
        "a list",
    ),
    ({"attributes": {"brand": {"path": "b"}}}, "attributes.brand.type", "is missing"),
    ({"attributes": {"brand": {"path": "b", "type": "text"}}}, "attributes.brand.type", "one of string"),
    ({"attributes": {"x" * 129: {"path": "b", "type": "string"}}}, f"attributes.{'x' * 129}", "1 to 128"),
    ({"capabilities": {**DOCUMENT["capabilities"], "max_page_size": 0}}, "capabilities.max_page_size", "at least 1"),
    ({"capabilities": {**DOCUMENT["capabilities"], "stable_sort": "yes"}}, "capabilities.stable_sort", "true or false"),
    ({"rate_limit": {"scope": "planet", "requests": 1, "seconds": 1}}, "rate_limit.scope", "account, marketplace"),
    ({"rate_limit": {"scope": "account", "requests": 0, "seconds": 1}}, "rate_limit.requests", "at least 1"),
    ({"errors": {"codes": {"a": "retry"}}}, "errors.code_path", "is missing"),
    ({"errors": {"code_path": "c", "codes": {"a": "ok"}}}, "errors.codes.a", "reset_paging"),
    ({"errors": {"statuses": {"200": "retry"}}}, "errors.statuses.200", "300 to 599"),
    ({"errors": {"statuses": {"4xx": "retry"}}}, "errors.statuses.4xx", "300 to 599"),
    ({"errors": {"statuses": {"410": "explode"}}}, "errors.statuses.410", "fatal"),
    ({"pagging": {}}, "pagging", "is unknown"),
]


@pytest.mark.parametrize(("changes", "field", "remedy"), FAULTS, ids=[f"{field}: {r}" for _, field, r in FAULTS])
def test_names_field_and_remedy(changes: dict[str, object], field: str, remedy: str) -> None:
    found = faults(document(**changes))

    assert list(found) == [field], found
    assert remedy in found[field]


def test_names_all_faults_at_once() -> None:
    changed = document(code="", path="x", origin=None, auth={"kind": "basic"}, extra=1)

    assert set(faults(changed)) >= {"path", "origin", "auth.username", "auth.password", "extra"}
