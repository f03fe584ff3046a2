"""From a description's document to a `Description`, with every violation in it named at once."""

import re
from collections.abc import Mapping

from worker.connectors.documents import Path
from worker.connectors.origin import Origin
from worker.connectors.rest.authentication import (
    Authentication,
    BasicAuthentication,
    BearerAuthentication,
    HeaderAuthentication,
    NoAuthentication,
)
from worker.connectors.rest.description import Description
from worker.connectors.rest.reading_fields import read_records
from worker.connectors.rest.reading_paging import read_strategy
from worker.connectors.rest.tables import DescriptionInvalid, Table
from worker.connectors.rest.templates import Template
from worker.connectors.rest.verdicts import DECLARABLE_ACTIONS, DEFAULT_WAIT_SECONDS, ErrorMap
from worker.connectors.seam import Action, Capabilities, RateLimit

_CODE = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_NOWHERE = Origin("https", "invalid", 443, "")
_NO_TEMPLATE = Template("", ())


def read(document: Mapping[str, object], source: str, origin_override: str | None = None) -> Description:
    """The description in a document; `origin_override` replaces its origin.

    Raises `DescriptionInvalid` with all violations, each naming a field and its remedy; `source` names the document.
    """
    top = Table(document)
    code = top.text("code", required=True)
    if code and not _CODE.fullmatch(code):
        top.refuse("code", "must be at most 32 lower-case letters, digits, dots, dashes and underscores")
    origin = _origin(top, origin_override)
    rate_limit = _rate_limit(top)
    fields = read_records(top)
    table = top.table("records", required=True)
    paging = top.table("paging", required=True)
    description = Description(
        marketplace_code=code,
        version=top.integer("version", 1, least=1),
        origin=origin,
        path=_path(top),
        params=_templates(top.table("params"), credentials_allowed=False),
        headers=_headers(top.table("headers"), credentials_allowed=False),
        authentication=_authentication(top.table("auth", required=True)),
        strategy=read_strategy(paging, origin),
        records_path=Path(table.text("path", required=True)),
        total_path=_optional_path(table, "total_path"),
        size_path=_optional_path(table, "size_path"),
        records=fields,
        capabilities=_capabilities(top.table("capabilities", required=True)),
        rate_limit=rate_limit,
        errors=_errors(top.table("errors"), rate_limit),
    )
    table.end()
    top.end()
    if top.violations:
        raise DescriptionInvalid(source, top.violations)
    return description


def _origin(top: Table, override: str | None) -> Origin:
    text = override or top.text("origin")
    top.known.add("origin")
    if not text:
        top.refuse("origin", "is missing: add it here, or give it where the connectors are loaded")
        return _NOWHERE
    try:
        return Origin.parse(text)
    except ValueError as error:
        top.refuse("origin", str(error))
        return _NOWHERE


def _path(top: Table) -> Template:
    text = top.text("path", required=True)
    if text and (not text.startswith("/") or any(mark in text for mark in "?#\\ ") or "/../" in f"{text}/"):
        top.refuse("path", "must start with a slash and have no query, fragment, blank or dot segment")
    return _template(top, "path", text, credentials_allowed=False)


def _template(table: Table, name: str, text: str, *, credentials_allowed: bool) -> Template:
    try:
        return Template.parse(text, credentials_allowed=credentials_allowed)
    except ValueError as error:
        table.refuse(name, str(error))
        return _NO_TEMPLATE


def _templates(table: Table, *, credentials_allowed: bool) -> dict[str, Template]:
    return {
        name: _template(table, name, table.text(name), credentials_allowed=credentials_allowed)
        for name in table.content
    }


def _headers(table: Table, *, credentials_allowed: bool) -> dict[str, Template]:
    for name in table.content:
        if not _HEADER_NAME.fullmatch(name):
            table.refuse(name, "is no name of a header")
        if not (table.text(name).isascii() and table.text(name).isprintable()):
            table.refuse(name, "must be printable ASCII: headers carry nothing else")
    named = _templates(table, credentials_allowed=credentials_allowed)
    return {name.lower(): template for name, template in named.items()}


def _authentication(table: Table) -> Authentication:
    readers = {"none": _no_auth, "basic": _basic, "header": _header_auth, "bearer": _bearer}
    reader = table.choice("kind", readers, None, required=True)
    if reader is None:
        return NoAuthentication()
    authentication = reader(table)
    table.end()
    return authentication


def _no_auth(_: Table) -> Authentication:
    return NoAuthentication()


def _basic(table: Table) -> Authentication:
    return BasicAuthentication(_secret(table, "username"), _secret(table, "password"))


def _bearer(table: Table) -> Authentication:
    return BearerAuthentication(_secret(table, "token"))


def _header_auth(table: Table) -> Authentication:
    return HeaderAuthentication(_headers(table.table("headers", required=True), credentials_allowed=True))


def _secret(table: Table, name: str) -> Template:
    return _template(table, name, table.text(name, required=True), credentials_allowed=True)


def _optional_path(table: Table, name: str) -> Path | None:
    text = table.text(name)
    return Path(text) if text else None


def _capabilities(table: Table) -> Capabilities:
    ttl = table.integer("cursor_ttl_seconds", 0, least=0)
    capabilities = Capabilities(
        max_page_size=table.integer("max_page_size", 1, least=1, required=True),
        stable_sort=table.boolean("stable_sort", required=True),
        cursor_survives=table.boolean("cursor_survives", required=True),
        cursor_ttl_seconds=float(ttl) if ttl else None,
    )
    table.end()
    return capabilities


def _rate_limit(top: Table) -> RateLimit | None:
    if not top.has("rate_limit"):
        top.known.add("rate_limit")
        return None
    table = top.table("rate_limit")
    limit = RateLimit(
        scope=table.choice("scope", {"account": "account", "marketplace": "marketplace"}, "account", required=True),
        requests=table.integer("requests", 1, least=1, required=True),
        seconds=float(table.integer("seconds", 1, least=1, required=True)),
    )
    table.end()
    return limit


def _errors(table: Table, rate_limit: RateLimit | None) -> ErrorMap:
    actions = {str(action): action for action in Action if action in DECLARABLE_ACTIONS}
    codes, statuses = table.table("codes"), table.table("statuses")
    for name in statuses.content:
        if not (name.isdecimal() and 300 <= int(name) <= 599):
            statuses.refuse(name, "must be a status from 300 to 599")
    if codes.content and not table.has("code_path"):
        table.refuse("code_path", "is missing: add the path of the error code that `codes` speaks of")
    errors = ErrorMap(
        code_path=_optional_path(table, "code_path"),
        codes={name: codes.choice(name, actions, Action.FATAL) for name in codes.content},
        statuses={int(n): statuses.choice(n, actions, Action.FATAL) for n in statuses.content if n.isdecimal()},
        default_wait_seconds=rate_limit.seconds if rate_limit else DEFAULT_WAIT_SECONDS,
    )
    table.end()
    return errors
