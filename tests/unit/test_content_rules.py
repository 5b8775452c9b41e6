"""Content tags: certain where they are given, absent where nothing is certain."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from pgrag.ingest.chunks.content_rules import CONTENT_TAGS, RULES
from pgrag.ingest.chunks.content_tags import content_tags
from pgrag.ingest.page import PageOptions, read_page

PASSAGES: dict[str, list[dict[str, Any]]] = yaml.safe_load(
    (Path(__file__).parents[1] / "fixtures/content_tags.yaml").read_text("utf-8")
)


def test_the_labelled_set_is_large_enough_and_every_rule_has_a_known_tag():
    known, held_out = PASSAGES["known"], PASSAGES["held_out"]
    assert len(held_out) >= len(known) >= 30
    assert {passage["language"] for passage in known} == {"de", "en", "ru"}
    assert {tag for passage in held_out for tag in passage["tags"]} == set(CONTENT_TAGS)
    assert {rule.tag for rule in RULES} == set(CONTENT_TAGS)


@pytest.mark.parametrize("part", ["known", "held_out"])
def test_precision_of_every_tag(part):
    right, given, wanted = Counter(), Counter(), Counter()
    faults = []
    for passage in PASSAGES[part]:
        found = content_tags(passage["text"], heading=passage["heading"])
        given.update(found)
        wanted.update(passage["tags"])
        right.update(set(found) & set(passage["tags"]))
        if sorted(found) != sorted(passage["tags"]):
            faults.append((passage["heading"], found, passage["tags"]))
    precision = {tag: right[tag] / given[tag] for tag in given}
    assert min(precision.values()) >= 0.85, (precision, faults)
    assert sum(right.values()) / sum(wanted.values()) >= 0.85, faults


@pytest.mark.parametrize(("text", "is_procedural"), [
    ("Steps to open a new corporate account: 1. Collect documents. 2. Verify the owners.", True),
    ("Steps to open a new corporate account:\n\n1. Identity papers\n2. Proof of address", True),
    ("Each person is identified. To identify a person:\n\n1. Compare the face.\n2. Ask.", True),
    ("Procedure for wire transfers: 1) Client submits the form 2) Officer calls back", True),
    ("Schritte zur Eröffnung eines Kontos: 1. Unterlagen sammeln 2. Ausweis zeigen", True),
    ("Um ein Konto zu eröffnen:\n1. Antrag stellen\n2. Ausweis zeigen", True),
    ("Порядок открытия счёта: 1. Соберите документы. 2. Подпишите договор.", True),
    ("The fund invests in bonds. According to the board: 1. The year was good.", False),
    ("Opened from Monday to Friday: 9 to 17.", False),
    ("Prices changed compared to last year: 12. Mai", False),
])  # fmt: skip
def test_numbered_steps_are_known_by_what_they_are_for(text, is_procedural):
    assert ("procedural" in content_tags(text, heading="1.1 Accounts")) is is_procedural


def test_authors_are_believed_and_code_and_odd_text_are_no_prose():
    text = "---\ntype: concept\n---\n# Tides\n\nThe sea rises twice a day.\n"
    page = read_page("tides.md", text.encode(), PageOptions())
    assert [chunk.content_tags for chunk in page.chunks if chunk.level == 2] == [("conceptual",)]
    text = "```yaml\n# Warning: the tenant shall not\n1. Open\n2. Close\n```"
    assert content_tags(text) == ()
    for text in ["", "\n", "#", "```", "**", "- ", "a" * 100_000, "[" * 5000]:
        assert content_tags(text, heading=text) == ()


def test_summaries_have_the_tags_of_most_paragraphs_and_sections_their_own_audience():
    step = "1. Open the lid.\n2. Remove the filter.\n" + "The filter sits below the lid. " * 12
    text = f"# Pump\n\n## Care\n\n### Open\n\n{step}\n\n### Shut\n\n{step}\n\n## History\n\n" + (
        "The first pump of this kind was sold in 1904 to a garden in the south. " * 6
    )
    page = read_page("pump.md", text.encode(), PageOptions())
    tags = {(chunk.level, chunk.heading): chunk.content_tags for chunk in page.chunks}
    assert (tags[1, "Care"], tags[1, "History"]) == (("procedural",), ())
    assert (tags[0, ""], tags[2, "History"]) == (("procedural",), ())
    text = (
        "# Tide basics\n\nThe sea rises.\n\n## Care\n\nIt falls.\n\n"
        "## Advanced usage\n\nTurn the moon.\n"
    )
    page = read_page("tides.md", text.encode(), PageOptions())
    tags = {chunk.heading: chunk.content_tags for chunk in page.chunks if chunk.level == 2}
    assert (tags["Care"], tags["Advanced usage"]) == (("beginner",), ("advanced",))


AUDIENCES = {"beginner", "intermediate", "advanced"}


@pytest.mark.parametrize(("text", "audience"), [
    ("# Tides\n\nThe sea rises.", None),
    ("# Getting started with tides\n\nThe sea rises.", "beginner"),
    ("# Tide basics\n\nThe sea rises.", "beginner"),
    ("# Einführung in Gezeiten\n\nDas Meer steigt.", "beginner"),
    ("# Введение в приливы\n\nМоре поднимается.", "beginner"),
    ("# Hello tides\n\n## Before you begin\n\nYou need a boat.\n\n## Go\n\nGo.", "beginner"),
    ("# Tide basics\n\nThis assumes familiarity with orbits.", "intermediate"),
    ("# Tides\n\n## Prerequisites\n\n## Measure\n\nThe sea rises.", "intermediate"),
    ("# Tides\n\n## Voraussetzungen\n\nEin Boot.\n\n## Messen\n\nMessen.", "intermediate"),
    ("# Highly available tides\n\n## Before you begin\n\nA sea.", "advanced"),
    ("# Hochverfügbare Gezeiten\n\n## Erste Schritte\n\nDas Meer steigt.", "advanced"),
    ("# Высокая доступность приливов\n\nМоре поднимается.", "advanced"),
    ("# Tides\n\n## Boats\n\n### Prerequisites\n\nA boat.\n\n### Go\n\nGo.", None),
    ("# Service internal tides\n\nThe sea rises.", None),
    ("# Tides\n\n## First steps for both seas\n\nThe sea rises.", None),
    ("---\naudience: [experts]\n---\n# Tide basics\n\nThe sea rises.", "advanced"),
    ("---\ndifficulty: Mittel\n---\n# Tides\n\nThe sea rises.", "intermediate"),
    ("---\ntags: [sea, Beginner]\n---\n# Tides\n\nThe sea rises.", "beginner"),
    ("---\nlevel: 3\n---\n# Tides\n\nThe sea rises.", None),
])  # fmt: skip
def test_a_page_has_the_audience_that_its_author_names_or_presupposes(text, audience):
    page = read_page("tides.md", text.encode(), PageOptions())
    expected = {audience} - {None}
    assert {*page.chunks[0].content_tags} & AUDIENCES == expected
    for chunk in page.chunks:
        assert {*chunk.content_tags} & AUDIENCES <= expected
