"""How a request shows which account it is for."""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from worker.connectors.rest.templates import Template


class Authentication(Protocol):
    """Makes the headers that prove an account's credentials."""

    def templates(self) -> list[Template]:
        """The templates whose places must be filled."""

    def headers(self, values: Mapping[str, str]) -> dict[str, str]:
        """The headers, from the values of all places."""


@dataclass(frozen=True, slots=True)
class NoAuthentication:
    """The marketplace shows its listings to everybody."""

    def templates(self) -> list[Template]:
        """None."""
        return []

    def headers(self, values: Mapping[str, str]) -> dict[str, str]:
        """None."""
        return {}


@dataclass(frozen=True, slots=True)
class BasicAuthentication:
    """User name and password, or key and secret (RFC 7617, in UTF-8)."""

    username: Template
    password: Template

    def templates(self) -> list[Template]:
        """Those of user name and password."""
        return [self.username, self.password]

    def headers(self, values: Mapping[str, str]) -> dict[str, str]:
        """`Authorization: Basic …`."""
        pair = f"{self.username.fill(values)}:{self.password.fill(values)}"
        return {"authorization": f"Basic {b64encode(pair.encode()).decode()}"}


@dataclass(frozen=True, slots=True)
class HeaderAuthentication:
    """Headers of the marketplace's own, such as an application's key and secret."""

    named: Mapping[str, Template]

    def templates(self) -> list[Template]:
        """Those of all headers."""
        return list(self.named.values())

    def headers(self, values: Mapping[str, str]) -> dict[str, str]:
        """Each header with its filled text."""
        return {name: template.fill(values) for name, template in self.named.items()}


@dataclass(frozen=True, slots=True)
class BearerAuthentication:
    """A bearer token (RFC 6750)."""

    token: Template

    def templates(self) -> list[Template]:
        """That of the token."""
        return [self.token]

    def headers(self, values: Mapping[str, str]) -> dict[str, str]:
        """`Authorization: Bearer …`."""
        return {"authorization": f"Bearer {self.token.fill(values)}"}
