"""What changed between two versions: pages and sections, as git sees their files."""

import random

import pytest
from changes import Repository, a_page, next_state, pages_and_sections, write
from library import document, ingest, page, refused, run, value

REEF = """\
---
title: Reefing
---
# Reefing

Reef before you think of it.

## At the mast

Ease the halyard, then hook the tack.

## From the cockpit

Two lines lead aft. Haul them in turn.
"""
ANCHOR = """\
# Anchoring

Choose good ground.

## Chain

Five times the depth at high water.

## Rope

Eight times the depth, and a weight on it.
"""


@pytest.fixture
def compared(connection):
    """Writes two states of a library, and returns the changes of its pages and sections."""

    def compare(old, new):
        write(connection, "sailing", "1.0", old)
        write(connection, "sailing", "2.0", new)
        return pages_and_sections(connection, "sailing", "1.0", "2.0")

    return compare


def changes(connection, **arguments):
    given = {"library": "sailing", "from_version": "1.0", **arguments}
    return run(connection, "compare_versions", **given)


CHAIN = "## Chain\n\nFive times the depth at high water.\n\n"
LOG = "# Log\n\n## Day\n\nCalm.\n\n## Day\n\nGale.\n\n## Day\n\nFog.\n"
TWIN = "---\nuuid: copied\n---\nThe page {}.\n"
ONE, OTHER = "---\nuuid: r\n---\nReef.", "---\nuuid: a\n---\nAnchor."


@pytest.mark.parametrize(
    ("old", "new", "pages", "sections"),
    [
        ({"reef.md": REEF}, {"reef.md": REEF}, set(), set()),
        (
            {"reef.md": REEF}, {"anchor.md": ANCHOR},
            {("removed", "reef.md", "reef.md"), ("added", "anchor.md", None)}, set(),
        ),
        (
            {"reef.md": REEF}, {"reef.md": REEF.replace("the tack", "the tack and haul")},
            {("changed", "reef.md", "reef.md")}, {("changed", "reef.md", "At the mast")},
        ),
        (
            {"reef.md": REEF}, {"reef.md": REEF.replace("before you think of it", "early")},
            {("changed", "reef.md", "reef.md")}, {("changed", "reef.md", "")},
        ),
        (
            {"reef.md": REEF},
            {"reef.md": REEF.partition("## From")[0] + "## With a winch\n\nPress the button.\n"},
            {("changed", "reef.md", "reef.md")},
            {("removed", "reef.md", "From the cockpit"), ("added", "reef.md", "With a winch")},
        ),
        (
            {"anchor.md": ANCHOR},
            {"anchor.md": ANCHOR.replace(CHAIN, ""), "chain.md": f"# Chain and rode\n\n{CHAIN}"},
            {("changed", "anchor.md", "anchor.md"), ("added", "chain.md", None)},
            {("moved", "chain.md", "Chain")},
        ),
        (
            {"log.md": LOG}, {"log.md": LOG.replace("Gale", "Storm")},
            {("changed", "log.md", "log.md")}, {("changed", "log.md", "Day")},
        ),
        (
            {"a.md": ONE, "b.md": OTHER}, {"a.md": OTHER, "b.md": ONE + " Early."},
            {("moved", "a.md", "b.md"), ("moved", "b.md", "a.md")}, {("changed", "b.md", "")},
        ),
        (
            {"a.md": TWIN.format("a"), "b.md": TWIN.format("b")},
            {"a.md": TWIN.format("a"), "b.md": TWIN.format("b, revised")},
            {("changed", "b.md", "b.md")}, {("changed", "b.md", "")},
        ),
        (
            {"a.md": "", "b.md": "\n", "c.md": "---\ntitle: C\n---\n"},
            {"a.md": "\n", "d.md": "\n", "e.md": ""},
            {
                ("changed", "a.md", "a.md"), ("removed", "b.md", "b.md"),
                ("removed", "c.md", "c.md"), ("added", "d.md", None), ("added", "e.md", None),
            },
            set(),
        ),
    ],
    ids=[
        "equal versions", "pages come and go", "a rewritten section",
        "the text before the first heading", "sections come and go",
        "a section moves to a new page", "equal headings by their order",
        "a uuid is stronger than a key", "a uuid of two pages is none", "empty pages",
    ],
)  # fmt: skip
def test_what_changed(compared, old, new, pages, sections):
    assert compared(old, new) == (pages, sections)


def test_a_section_under_another_heading_or_on_another_page_has_moved(connection, compared):
    reef = REEF.replace("## From the cockpit", "## From aft")
    pages, sections = compared(
        {"reef.md": REEF, "anchor.md": ANCHOR},
        {"reef.md": reef + f"\n{CHAIN}", "anchor.md": ANCHOR.replace(CHAIN, "")},
    )
    assert pages == {("changed", "reef.md", "reef.md"), ("changed", "anchor.md", "anchor.md")}
    assert sections == {("moved", "reef.md", "From aft"), ("moved", "reef.md", "Chain")}
    [row] = [row for row in changes(connection, texts="all") if row["section"] == ["Chain"]]
    assert (row["old_key"], row["old_section"], row["text_changed"]) == (
        "anchor.md", ["Chain"], False,
    )  # fmt: skip
    assert row["old_text"].strip() == row["new_text"].strip()
    assert row["anchor"] == "chain"


def test_a_page_under_another_key_has_moved(connection, compared):
    pages, sections = compared({"reef.md": REEF}, {"guide/reefing.md": REEF})
    assert pages == {("moved", "guide/reefing.md", "reef.md")}
    assert sections == set()
    [row] = changes(connection)
    assert row["text_changed"] is False


def test_a_page_that_moved_and_changed_at_once(connection, compared):
    new = REEF.replace("Two lines lead aft. Haul them in turn.", "Three lines lead aft.")
    pages, sections = compared({"reef.md": REEF}, {"guide/reefing.md": new})
    assert pages == {("moved", "guide/reefing.md", "reef.md")}
    assert sections == {("changed", "guide/reefing.md", "From the cockpit")}
    assert [row["text_changed"] for row in changes(connection)] == [True, True]


def test_front_matter_changes_the_page_alone(connection, compared):
    pages, sections = compared({"reef.md": REEF}, {"reef.md": REEF.replace("Reefing", "Reefs", 1)})
    assert (pages, sections) == ({("changed", "reef.md", "reef.md")}, set())
    ingest(connection, "sailing", [page("a.md", "Text.", front_matter={"a": 1})], "3.0")
    ingest(connection, "sailing", [page("a.md", "Text.", front_matter={"a": 2})], "4.0")
    pages, _ = pages_and_sections(connection, "sailing", "3.0", "4.0")
    assert pages == {("changed", "a.md", "a.md")}


def test_pages_without_lines_are_compared_whole(connection):
    for version, text in (("1.0", "One text."), ("2.0", "Another text.")):
        ingest(connection, "bare", [page("a.md", document(text, level=2))], version, embed=False)
    pages, sections = pages_and_sections(connection, "bare", "1.0", "2.0")
    assert (pages, sections) == ({("changed", "a.md", "a.md")}, set())


def test_a_page_that_is_written_again_is_compared_by_its_new_text(connection, compared):
    compared({"reef.md": REEF, "anchor.md": ANCHOR}, {"reef.md": REEF, "anchor.md": ANCHOR})
    write(connection, "sailing", "2.0", {"reef.md": REEF.replace("Ease", "Slack")})
    pages, sections = pages_and_sections(connection, "sailing", "1.0", "2.0")
    assert pages == {("changed", "reef.md", "reef.md")}
    assert sections == {("changed", "reef.md", "At the mast")}
    run(connection, "remove_pages", library="sailing", version="2.0", keys=["reef.md"])
    pages, _ = pages_and_sections(connection, "sailing", "1.0", "2.0")
    assert pages == {("removed", "reef.md", "reef.md")}
    rest = "select count(*) from pgrag.section_texts as s where not exists (select from" \
        " pgrag.documents as d where d.document_id = s.document_id)"  # fmt: skip
    assert value(connection, rest) == 0


def test_one_page_with_its_texts(connection, compared):
    compared({"reef.md": REEF, "a.md": "A."}, {"guide/reef.md": REEF + "\nMore.\n", "a.md": "B."})
    for key in ("reef.md", "guide/reef.md"):
        whole, section = changes(connection, to_version="2.0", page=key, texts="all")
        assert (whole["old_text"], whole["new_text"]) == (REEF, REEF + "\nMore.\n")
        assert section["old_text"].strip() == "Two lines lead aft. Haul them in turn."
        assert section["new_text"].strip().endswith("More.")
        rows = changes(connection, to_version="2.0", page=key, texts="pages")
        assert [row["old_text"] for row in rows] == [REEF, None]
        assert [row["new_text"] for row in rows] == [REEF + "\nMore.\n", None]
    with refused(connection, "PGR01", "texts must be none, pages or all, got 'true'."):
        changes(connection, texts="true")


def test_versions_that_do_not_exist_are_refused_and_others_named(connection, compared, notices):
    compared({"reef.md": REEF}, {"reef.md": ANCHOR})
    with refused(connection, "PGR03", "has no version that fits '0.1'", hint="It has: 2.0, 1.0"):
        changes(connection, from_version="0.1")
    with refused(connection, "PGR02", "There is no library 'rowing'"):
        changes(connection, library="rowing")
    changes(connection, from_version="1", to_version="2.0")
    assert notices == ["1 stands for 1.0: the newest version in the range 1."]


@pytest.mark.parametrize("seed", range(6))
def test_pages_are_as_git_finds_them(connection, tmp_path, seed):
    chance = random.Random(seed)
    repository = Repository(tmp_path)
    files = {f"{n}.md": a_page(chance, f"Page {n}") for n in range(25)}
    commits = []
    for number in range(4):
        write(connection, "fleet", f"{number}.0", files)
        commits.append(repository.commit(files))
        files = next_state(chance, files, number)
    for old in range(4):
        for new in range(4):
            pages, _ = pages_and_sections(connection, "fleet", f"{old}.0", f"{new}.0")
            assert pages == repository.changes(commits[old], commits[new]), (old, new)
