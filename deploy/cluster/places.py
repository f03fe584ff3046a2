"""Where things are."""

from pathlib import Path

CHECKOUT = Path(__file__).parents[2]


def shown(path: Path) -> str:
    """A path as people at the checkout would type it."""
    return str(path.relative_to(CHECKOUT)) if path.is_relative_to(CHECKOUT) else str(path)
