"""The examples that need no package but pgrag; tests/frameworks runs the others."""

import pytest
from example import EXAMPLES, run_example

PRINTED = {
    "analyst": ("kestrel | 2.0 ", "licence key ", "Install Kestrel"),
    "own-tables": ("| Cannot sign in |", "6  | Two-factor codes", "tickets › Cannot sign in"),
    "service": ("[1] Restore a folder", "The handbook does not say."),
    "agent": ("tools: search_docs, read_docs,", "search_docs {", "name the day and the folder"),
}
OF_FRAMEWORKS = {"evaluation", "langgraph"}


@pytest.mark.parametrize("name", PRINTED)
def test_an_example_prints_what_it_promises(name, database_url, tmp_path):
    printed = run_example(name, tmp_path, database_url)
    assert [words for words in PRINTED[name] if words not in printed] == [], printed


def test_every_example_is_run_and_has_its_picture_and_its_line():
    folders = {each.name for each in EXAMPLES.iterdir() if each.is_dir()}
    assert folders == {*PRINTED, *OF_FRAMEWORKS}
    listed = (EXAMPLES / "README.md").read_text("utf-8")
    for name in folders:
        assert f"({name}/README.md)" in listed
        assert "](picture.svg)" in (EXAMPLES / name / "README.md").read_text("utf-8")
        assert (EXAMPLES / name / "picture.svg").read_text("utf-8").lstrip().startswith("<")
