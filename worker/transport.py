"""HTTP behind a fence: one origin, no redirects, no proxies or ``.netrc``, a size cap and a total deadline.

The coordinator and every marketplace are asked through one of these each.
"""

import threading
import time
from collections.abc import Mapping
from pathlib import Path

import requests
import urllib3

from worker.connectors.failures import Overdue, Oversize, PageUnreadable, Unreachable
from worker.connectors.origin import Origin
from worker.connectors.seam import Response
from worker.timed_answers import TimedAnswers

CONNECT_SECONDS = 5.0
DEFAULT_DEADLINE_SECONDS = 30.0
"""Half of what a drain may take by default: a marketplace that hangs must not spoil an orderly end."""
DEFAULT_MAX_BYTES = 16 * 1024 * 1024
_CHUNK_BYTES = 64 * 1024


class Transport:
    """Requests to one origin; each thread has connections of its own.

    ``max_bytes`` caps the body after Content-Encoding is undone, so a bomb cannot pass it. The deadline of a request
    counts connecting, sending, headers and body together; only the resolver keeps its own time.
    """

    def __init__(
        self,
        origin: Origin,
        *,
        certificate_authority: Path | None = None,
        max_bytes: int = DEFAULT_MAX_BYTES,
    ) -> None:
        self.origin = origin
        self._verify: str | bool = str(certificate_authority) if certificate_authority else True
        self._max_bytes = max_bytes
        self._threads = threading.local()

    def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes = b"",
        deadline_seconds: float = DEFAULT_DEADLINE_SECONDS,
    ) -> Response:
        """The answer, whatever its status; redirects are answers like any other.

        Raises ``Misdirected`` for a URL outside the origin (before anything is sent), ``Unreachable``, ``Overdue``,
        ``Oversize``, and ``PageUnreadable`` for a body that is not what its Content-Encoding says.
        """
        self.origin.relative(url, url)
        try:
            answer = self._session().request(
                method,
                url,
                headers=dict(headers),
                data=body or None,
                allow_redirects=False,
                stream=True,
                verify=self._verify,
                timeout=urllib3.Timeout(connect=CONNECT_SECONDS, total=deadline_seconds),  # type: ignore[arg-type] # the stubs lag
            )
            with answer:
                content = self._read(answer.raw)
        except requests.Timeout as error:
            raise Overdue(f"{self.origin.url} did not answer within {deadline_seconds:g} s") from error
        except requests.RequestException as error:
            raise Unreachable(f"{self.origin.url} cannot be reached: {type(error).__name__}") from error
        named = {name.lower(): value for name, value in answer.headers.items()}
        return Response(answer.status_code, named, content, url, time.time())

    def _read(self, raw: urllib3.BaseHTTPResponse) -> bytes:
        content = bytearray()
        try:
            while chunk := raw.read1(_CHUNK_BYTES, decode_content=True):
                content += chunk
                if len(content) > self._max_bytes:
                    raise Oversize(f"{self.origin.url} answered with more than {self._max_bytes} bytes")
        except urllib3.exceptions.DecodeError as error:
            raise PageUnreadable("The body is not what its Content-Encoding says") from error
        except urllib3.exceptions.ReadTimeoutError as error:
            raise Overdue(f"{self.origin.url} sent its answer too slowly") from error
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise Unreachable(f"{self.origin.url} broke off its answer: {type(error).__name__}") from error
        return bytes(content)

    def _session(self) -> requests.Session:
        session: requests.Session | None = getattr(self._threads, "session", None)
        if session is None:
            session = requests.Session()
            session.trust_env = False
            session.headers.clear()
            session.headers["Accept-Encoding"] = "gzip, deflate"
            session.headers["User-Agent"] = "distributed-marketplace-processing"
            for scheme in ("http://", "https://"):
                session.mount(scheme, TimedAnswers())
            self._threads.session = session
        return session
