"""``python -m tests.integration.contract.document`` writes docs/contract.md: which test proves which sentence."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
CHECKOUT = FOLDER.parents[2]
DOCUMENT = CHECKOUT / "docs" / "contract.md"
_HEAD = """# The contract, sentence by sentence

What the specification demands of the coordinator's API, and the test that shows it, over HTTP against real gunicorn
and real MySQL. `tests/run mysql tests/integration/contract` runs them; this page is made from them by
`python -m tests.integration.contract.document`.
"""


@dataclass(frozen=True, order=True)
class Proof:
    """A sentence of a numbered section, and the test that proves it."""

    section: int
    sentence: str
    module: str
    test: str


def proofs() -> Iterator[Proof]:
    """All that the contract tests say of themselves."""
    for file in sorted(FOLDER.glob("test_*.py")):
        module = importlib.import_module(f"tests.integration.contract.{file.stem}")
        for name, test in inspect.getmembers(module, inspect.isfunction):
            for mark in getattr(test, "pytestmark", []):
                if mark.name == "contract":
                    yield Proof(mark.args[0], mark.args[1], file.stem, name)


def text() -> str:
    """The page."""
    found = sorted(proofs())
    lines = [_HEAD, f"{len(found)} tests.\n"]
    for section in sorted({proof.section for proof in found}):
        lines += [f"## Section {section}\n", "| the specification says | proven by |", "|---|---|"]
        of_section = [proof for proof in found if proof.section == section]
        for sentence in dict.fromkeys(proof.sentence for proof in of_section):
            tests = [f"`{proof.module}.{proof.test}`" for proof in of_section if proof.sentence == sentence]
            lines.append(f"| {sentence} | {'<br>'.join(tests)} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    DOCUMENT.write_text(text(), "utf-8")
