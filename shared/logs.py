"""Logs: one JSON object a line, UTC, ours and the libraries' alike; nothing secret, no values of local variables."""

import logging
from typing import TextIO

import structlog
from structlog.tracebacks import ExceptionDictTransformer
from structlog.typing import EventDict, Processor, WrappedLogger

_SECRET_NAMES = frozenset(
    {"authorization", "credentials", "password", "secret", "signature", "signature_input", "values"}
)
_SHARED: list[Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]


def configure(stream: TextIO, level: str = "info") -> None:
    """Write everything from ``level`` (``debug``, ``info``, ``warning``, ``error``) on to ``stream``.

    Values bound by ``structlog.contextvars`` (a request id, a task) appear in every line of their context.
    """
    structlog.configure(
        processors=[*_SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_SHARED,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.ExceptionRenderer(ExceptionDictTransformer(show_locals=False)),
                redact,
                structlog.processors.JSONRenderer(),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())


def redact(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Replace what is named like a secret; the last fence, for nothing should hand one to a logger."""
    return {name: "(redacted)" if name.lower() in _SECRET_NAMES else value for name, value in event.items()}
