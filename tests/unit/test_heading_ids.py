"""The anchors of headings are the ids that real site generators give them.

`scripts/make_heading_ids.py` builds the pages of tests/fixtures/headings with the generators.
"""

from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt

from pgrag.ingest.text.anchors import heading_anchors

HEADINGS = Path(__file__).parents[1] / "fixtures" / "headings"
IDS = yaml.safe_load((HEADINGS / "ids.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("style", "name"), [(style, name) for style, pages in IDS.items() for name in pages]
)
def test_every_heading_has_the_id_of_the_generator(style, name):
    file = HEADINGS / style / name
    page = file if file.exists() else HEADINGS / "shared" / name
    text = page.read_text(encoding="utf-8")
    if text.startswith("---\n"):
        text = text.partition("\n---\n")[2]
    built = [heading or "" for heading in IDS[style][name]]
    tokens = MarkdownIt("commonmark").parse(text, environment := {})
    definitions = environment.get("references", {})
    anchors = [*heading_anchors(tokens, definitions, style, lambda token: "").values()]
    if style == "mkdocs" and name == "odd.md":
        assert "" in anchors, "Python-Markdown has no headings of two lines"
        anchors.remove("")
    assert anchors == built
