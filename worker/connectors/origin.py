"""A marketplace's origin: scheme, host, effective port and path prefix. Nothing is asked outside of it."""

import ipaddress
from dataclasses import dataclass
from urllib.parse import SplitResult, urljoin, urlsplit

from worker.connectors.failures import Misdirected

_EFFECTIVE_PORT = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Origin:
    """The fence around a marketplace; `prefix` starts with a slash and ends without one, or is empty."""

    scheme: str
    host: str
    port: int
    prefix: str

    @classmethod
    def parse(cls, text: str) -> "Origin":
        """The origin written as a URL.

        Raises `ValueError` with a sentence unless it is https, or http to a loopback address, without user, query or
        fragment.
        """
        parts = urlsplit(text)
        if parts.scheme not in _EFFECTIVE_PORT or not parts.hostname:
            raise ValueError("must be a URL such as https://api.example.com")
        if parts.username is not None or parts.query or parts.fragment or not _is_plain(parts.path):
            raise ValueError("must have no user, query, fragment or dot segments")
        if parts.scheme == "http" and not _is_loopback(parts.hostname):
            raise ValueError("must be https: plain http is for loopback addresses only")
        return cls(parts.scheme, parts.hostname, _port(parts), parts.path.rstrip("/"))

    @property
    def authority(self) -> str:
        """Host and port, lower case and without the scheme's default port (RFC 9421 section 2.2.3)."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _EFFECTIVE_PORT[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The origin as a URL without a closing slash."""
        return f"{self.scheme}://{self.authority}{self.prefix}"

    def relative(self, base: str, link: str) -> str:
        """Path and query, below the prefix, of a link found in the answer of URL `base`.

        Raises `Misdirected` when the link leads out of the origin.
        """
        try:
            parts = urlsplit(urljoin(base, link))
            inside = (parts.scheme, parts.hostname, _port(parts)) == (self.scheme, self.host, self.port)
        except ValueError as error:
            raise Misdirected(f"The next-page link is no URL: {error}") from error
        below = parts.path.removeprefix(self.prefix)
        if not inside or parts.username is not None or not _is_plain(parts.path) or not below.startswith("/"):
            raise Misdirected(f"The next-page link leads out of {self.url}")
        if below == parts.path and self.prefix:
            raise Misdirected(f"The next-page link leads out of {self.url}")
        return f"{below}?{parts.query}" if parts.query else below


def _port(parts: SplitResult) -> int:
    return parts.port if parts.port is not None else _EFFECTIVE_PORT.get(parts.scheme, 0)


def _is_plain(path: str) -> bool:
    """Whether a path says where it leads: no dot segments, plain or escaped, no backslash or control character."""
    lowered = path.lower().replace("%2e", ".")
    return not any(segment in {".", ".."} for segment in lowered.split("/")) and path.isprintable() and "\\" not in path


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
