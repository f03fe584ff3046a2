"""What a log line holds, and what it must not."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from shared import logs


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    """Everything logged at info and above; the process's logging is put back afterwards."""
    root = logging.getLogger()
    handlers, level, before = list(root.handlers), root.level, structlog.get_config()
    written = io.StringIO()
    logs.configure(written, "info")
    yield written
    root.handlers = handlers
    root.setLevel(level)
    structlog.configure(**before)
    structlog.contextvars.clear_contextvars()


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_is_json_with_time_level_and_context(stream: io.StringIO) -> None:
    with structlog.contextvars.bound_contextvars(request_id="r-1"):
        structlog.get_logger("coordinator.x").info("something_happened", count=3)
    (line,) = lines(stream)
    assert line["event"] == "something_happened"
    assert (line["count"], line["request_id"], line["level"]) == (3, "r-1", "info")
    assert line["logger"] == "coordinator.x"
    assert line["timestamp"].endswith("Z")


def test_libraries_log_in_the_same_form(stream: io.StringIO) -> None:
    logging.getLogger("gunicorn.error").warning("worker %d died", 7)
    (line,) = lines(stream)
    assert (line["event"], line["level"], line["logger"]) == ("worker 7 died", "warning", "gunicorn.error")


def test_what_is_below_the_level_is_not_written(stream: io.StringIO) -> None:
    structlog.get_logger("x").debug("quiet")
    logging.getLogger("x").debug("quiet")
    assert lines(stream) == []


def test_a_traceback_shows_no_local_variables(stream: io.StringIO) -> None:
    hidden = "the value of a local variable"
    try:
        raise RuntimeError("failed")
    except RuntimeError:
        structlog.get_logger("x").exception("unexpected")
    assert "failed" in stream.getvalue()
    assert hidden not in stream.getvalue()


@pytest.mark.parametrize("name", ["password", "secret", "Signature", "credentials"])
def test_what_is_named_like_a_secret_is_not_written(stream: io.StringIO, name: str) -> None:
    structlog.get_logger("x").info("event", **{name: "hunter2"})
    assert "hunter2" not in stream.getvalue()
