"""Explicit ids of headings, and anchors where headings come from macros or vaults."""

from typing import get_args

import pytest

from pgrag.ingest.text.markdown import read
from pgrag.ingest.text.slugs import SlugStyle


def anchors(text: str, style: SlugStyle) -> list[str]:
    return [section.anchor for section in read(text, slugs=style)[0]]


@pytest.mark.parametrize(("heading", "anchor"), [
    ("`set` functions, like `setSomething` {/*setstate*/}", "setstate"),
    ("Pour the tea {/* #pour */}", "pour"),
    ("Pour {/* check this */}", "pour--check-this-"),
    ("Open the valve { #open-valve }", "open-valve"),
    ("Open the valve {: #open-valve .step}", "open-valve"),
    ('9.7.6 { id="9.7.6" .release }', "9.7.6"),
    ('Open the valve { data-id="x" }', "open-the-valve"),
    ("Tea 🍵 time", "tea--time"),
    ("चाय कैसे बनाएं", "चाय-कैसे-बनाएं"),
])  # fmt: skip
def test_explicit_ids_count_where_the_generator_is_not_known(heading, anchor):
    assert anchors(f"## {heading}\n", "github") == [anchor]


def test_hidden_headings_use_up_numbers_and_obsidian_links_by_words():
    text = "## Options\n\n> ## Options\n\n- ## Options\n\n## Options\n"
    assert anchors(text, "github") == ["options", "options-3"]
    assert anchors(text, "sphinx") == ["options", "id3"]
    links = ("Link: a | b #c", "Q&A, *really*?", "[[Note|alias]] `x`")
    headings = (*links, "Über uns", "Über uns", "No attribute {#x}")
    text = "".join(f"## {heading}\n\n" for heading in headings)
    assert anchors(text, "obsidian") == [
        "Link+a+b+c", "Q&A,+really?", "Note+alias+x", "Über+uns", "Über+uns", "No+attribute+{+x}",
    ]  # fmt: skip
    for style in get_args(SlugStyle):
        expected = {
            "vitepress": "what-s-next", "sphinx": "what-s-next", "obsidian": "What's+next",
        }.get(style, "whats-next")  # fmt: skip
        assert anchors('## {{% heading "whatsnext" %}}\n', style) == [expected]
