"""Connectors come from a folder of descriptions; one bad file spoils the start, and says so."""

from pathlib import Path

import pytest

from worker.connectors.registry import DescriptionsInvalid, load

GOOD = """
code = "{code}"
path = "/items"
origin = "https://api.example.test"
auth = {{ kind = "none" }}
paging = {{ strategy = "link" }}
records = {{ path = "" }}
fields = {{ listing_ref = {{ path = "id" }} }}
capabilities = {{ max_page_size = 100, stable_sort = false, cursor_survives = false }}
"""


def test_loads_every_description_by_its_code(tmp_path: Path) -> None:
    for code in ("one", "two"):
        (tmp_path / f"{code}.toml").write_text(GOOD.format(code=code), "utf-8")
    (tmp_path / "notes.txt").write_text("not a description", "utf-8")

    assert {code: connector.spec.marketplace_code for code, connector in load(tmp_path).items()} == {
        "one": "one",
        "two": "two",
    }


def test_the_example_of_the_documentation_is_a_description(tmp_path: Path) -> None:
    text = (Path(__file__).parents[4] / "docs" / "adding-a-marketplace.md").read_text("utf-8")
    (tmp_path / "example.toml").write_text(text.partition("```toml\n")[2].partition("```")[0], "utf-8")

    assert set(load(tmp_path)) == {"harbour"}


def test_replaces_origins_by_code(tmp_path: Path) -> None:
    for code in ("one", "two"):
        (tmp_path / f"{code}.toml").write_text(GOOD.format(code=code), "utf-8")

    connectors = load(tmp_path, {"two": "http://127.0.0.1:8080/shop/"})

    assert connectors["one"].spec.origin == "https://api.example.test"
    assert connectors["two"].spec.origin == "http://127.0.0.1:8080/shop"


def test_refuses_all_bad_files_together(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("code = ", "utf-8")
    (tmp_path / "b.toml").write_text(GOOD.format(code="Bad"), "utf-8")
    (tmp_path / "c.toml").write_text(GOOD.format(code="twice"), "utf-8")
    (tmp_path / "d.toml").write_text(GOOD.format(code="twice"), "utf-8")
    (tmp_path / "e.toml").write_bytes(b"\xff")

    with pytest.raises(DescriptionsInvalid) as caught:
        load(tmp_path)

    faults = {Path(cause.source).name: [v.field for v in cause.violations] for cause in caught.value.causes}
    assert faults == {"a.toml": ["file"], "b.toml": ["code"], "d.toml": ["code"], "e.toml": ["file"]}


@pytest.mark.parametrize("name", [".", "nowhere"])
def test_refuses_a_folder_without_descriptions(tmp_path: Path, name: str) -> None:
    with pytest.raises(DescriptionsInvalid, match="add one"):
        load(tmp_path / name)
