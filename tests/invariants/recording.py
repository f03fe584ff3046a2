"""Puts recorders into the two programs, without changing what they do."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.invariants.exchange import API, Exchange, Recorder, answered, nonce_of, spoken
from worker.connectors.seam import Response
from worker.transport import DEFAULT_DEADLINE_SECONDS, Transport

WSGI = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class RecordedApplication:
    """A WSGI application that writes down each call under the prefix before its answer leaves."""

    def __init__(self, application: WSGI, recorder: Recorder) -> None:
        self._application = application
        self._recorder = recorder

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Serve one request."""
        if not str(environ["PATH_INFO"]).startswith(API):
            return self._application(environ, start_response)
        began = time.monotonic()
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = io.BytesIO(body)
        status: list[str] = []

        def started(line: str, *arguments: Any) -> Any:
            status.append(line)
            return start_response(line, *arguments)

        content = b"".join(self._application(environ, started))
        said, digest = spoken(body)
        self._recorder.record(
            Exchange(
                side=self._recorder.side,
                began=began,
                ended=time.monotonic(),
                method=environ["REQUEST_METHOD"],
                path=environ["PATH_INFO"].removeprefix(API),
                said=said,
                digest=digest,
                nonce=nonce_of(environ),
                status=int(status[0].split()[0]),
                answer=answered(content),
            )
        )
        return [content]


def record_client(folder: Path) -> None:
    """Write down what this process says to the coordinator from now on."""
    recorder = Recorder(folder, "client")
    plain = Transport.send

    def send(
        self: Transport,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes = b"",
        deadline_seconds: float = DEFAULT_DEADLINE_SECONDS,
    ) -> Response:
        _, prefix, path = url.partition(API)
        if not prefix:
            return plain(self, method, url, headers, body, deadline_seconds)
        began = time.monotonic()
        said, digest = spoken(body)
        made = {"side": "client", "began": began, "method": method, "path": path, "said": said, "digest": digest}
        try:
            response = plain(self, method, url, headers, body, deadline_seconds)
        except Exception as error:
            failure = f"{type(error).__name__}: {error}"
            recorder.record(Exchange(**made, ended=time.monotonic(), failure=failure))
            raise
        answer = answered(response.body)
        recorder.record(Exchange(**made, ended=time.monotonic(), status=response.status, answer=answer))
        return response

    Transport.send = send  # type: ignore[method-assign]  # the instrument sits where every request passes
