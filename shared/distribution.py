"""Whether the packages that were imported are ours: their names are generic, another project's may come first.

Looks at the installed distribution's own record, nothing else.
"""

import json
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

NAME = "distributed-marketplace-processing"


class ForeignImportError(ImportError):
    """A package of ours was imported from somewhere else; the message names it and what to do."""


def assert_ours(*packages: str) -> None:
    """Raise ``ForeignImportError`` unless each of these packages comes from the installed distribution."""
    try:
        installed = distribution(NAME)
    except PackageNotFoundError as error:
        raise ForeignImportError(f"{NAME} is not installed in this environment: pip install it there") from error
    for package in packages:
        expected, found = _expected(installed, package), _found(package)
        if found != expected:
            raise ForeignImportError(
                f"package {package} was imported from {found}, but {NAME} has it in {expected}:"
                " run from an environment that holds nothing else, and start Python with -P"
            )


def _found(package: str) -> Path | None:
    spec = find_spec(package)
    return Path(spec.origin).resolve() if spec and spec.origin else None


def _expected(installed: Distribution, package: str) -> Path:
    module = f"{package}/__init__.py"
    source = _editable_source(installed)
    return (source / module if source else Path(str(installed.locate_file(module)))).resolve()


def _editable_source(installed: Distribution) -> Path | None:
    """The checkout behind an editable installation (its ``direct_url.json``, by the packaging specification)."""
    text = installed.read_text("direct_url.json")
    if text is None:
        return None
    document = json.loads(text)
    if not document.get("dir_info", {}).get("editable"):
        return None
    return Path(unquote(urlsplit(document["url"]).path))
