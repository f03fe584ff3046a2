"""Texts with places for an account's reference, settings and credentials: `/sellers/{settings.seller_id}/listings`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

from worker.connectors.failures import AccountMisconfigured
from worker.connectors.seam import Account

_PLACE = re.compile(r"\{([^{}]*)\}")
_NAME = re.compile(r"account_ref|(?:settings|credentials)\.[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Template:
    """A text whose places are filled from an account."""

    text: str
    places: tuple[str, ...]

    @classmethod
    def parse(cls, text: str, *, credentials_allowed: bool) -> "Template":
        """The template in a text.

        Raises `ValueError` with a sentence for a place that means nothing, and for credentials where they would end
        up in a URL.
        """
        places = tuple(_PLACE.findall(text))
        for place in places:
            if not _NAME.fullmatch(place):
                raise ValueError(
                    f"has the place {{{place}}}: use {{account_ref}}, {{settings.NAME}} or {{credentials.NAME}}"
                )
            if place.startswith("credentials.") and not credentials_allowed:
                raise ValueError(f"has the place {{{place}}}: credentials belong into [auth] only")
        if "{" in _PLACE.sub("", text) or "}" in _PLACE.sub("", text):
            raise ValueError("has an unpaired brace")
        return cls(text, places)

    def fill(self, values: Mapping[str, str]) -> str:
        """The text with each place replaced by its value, as it is."""
        return _PLACE.sub(lambda match: values[match[1]], self.text)

    def fill_path(self, values: Mapping[str, str]) -> str:
        """The text with each place replaced by its value, percent-encoded as a part of one path segment."""
        return _PLACE.sub(lambda match: quote(values[match[1]], safe=""), self.text)


@dataclass(slots=True)
class _Gathering:
    values: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    of_credentials: bool = False


def gather(account: Account, templates: list[Template]) -> dict[str, str]:
    """The values for all places of the templates.

    Raises `AccountMisconfigured`, naming every place that the account cannot fill; no value is repeated in it.
    """
    gathering = _Gathering()
    for place in sorted({place for template in templates for place in template.places}):
        value = _value(account, place)
        problem = _problem(value)
        if problem is None:
            gathering.values[place] = str(value)
        else:
            gathering.problems.append(f"{place} {problem}")
            gathering.of_credentials |= place.startswith("credentials.")
    if gathering.problems:
        raise AccountMisconfigured(gathering.problems, of_credentials=gathering.of_credentials)
    return gathering.values


def _value(account: Account, place: str) -> object:
    if place == "account_ref":
        return account.account_ref
    source, _, name = place.partition(".")
    return (account.settings if source == "settings" else account.credentials).get(name)


def _problem(value: object) -> str | None:
    """Why a value cannot be put into a request: it could break out of its header or path segment."""
    if value is None or value == "":
        return "is missing: add it to the account"
    if isinstance(value, bool) or not isinstance(value, str | int):
        return "must be text or a whole number"
    if value in {".", ".."}:
        return "must not be a dot segment"
    if not str(value).isprintable():
        return "must not contain control characters"
    return None
