"""Input as it is taken: JSON by a strict decoder, envelopes by their schemas, every field that is wrong named."""

from collections.abc import Mapping
from typing import Any, NoReturn, TypeVar

import marshmallow
import msgspec
from flask import Request, request
from flask_smorest import Blueprint
from webargs import core
from webargs.flaskparser import FlaskParser

from coordinator.api.errors import invalid
from shared.problems import UnsupportedMediaType

T = TypeVar("T")


class JsonParser(FlaskParser):
    """Parses bodies without the lenience of the standard decoder: no NaN, no depth that ends the process."""

    def load_json(self, req: Request, schema: marshmallow.Schema) -> Any:
        """The body as plain values; an envelope is always an object."""
        return decode(req.get_data(), dict[str, Any])

    def handle_error(self, error: marshmallow.ValidationError, *_: Any, **__: Any) -> NoReturn:
        """Raise the problem that names each field."""
        raise invalid(_flattened(error.messages))


class Calls(Blueprint):
    """A blueprint of the API: strict parsing of arguments."""

    ARGUMENTS_PARSER = JsonParser(unknown=marshmallow.RAISE)


def decode(body: bytes, kind: type[T]) -> T:
    """The JSON in ``body`` as a ``kind``. Raises ``UnsupportedMediaType`` or ``InvalidInput`` naming the field."""
    if not core.is_json(request.mimetype):
        raise UnsupportedMediaType("Send the body as application/json")
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise UnsupportedMediaType("Send the body without a Content-Encoding")
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        wrong, _, path = str(error).replace("`", "").partition(" - at $")
        raise invalid({path.lstrip(".") or "body": wrong}) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise invalid({"body": f"is no valid JSON: {error}"}) from error
    except RecursionError as error:
        raise invalid({"body": "is nested too deeply"}) from error


def _flattened(messages: Any, path: str = "") -> dict[str, str]:
    """``{"tasks.0.size": "Not a valid integer."}`` from nested messages, without the location that leads them."""
    if not isinstance(messages, Mapping):
        return {path or "body": " ".join(map(str, messages)) if isinstance(messages, list) else str(messages)}
    found: dict[str, str] = {}
    for name, inner in messages.items():
        is_location = not path and name in ("json", "query")
        below = path if is_location or name == "_schema" else f"{path}.{name}".lstrip(".")
        found |= _flattened(inner, below)
    return found
