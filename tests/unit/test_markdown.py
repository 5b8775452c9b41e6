"""Sections and the heading tree (H1, H7), blocks and their lines."""

import sys
from pathlib import Path

from pgrag.ingest.matter.front_matter import split
from pgrag.ingest.text.markdown import parse

FIXTURES = Path(__file__).parents[1] / "fixtures"

BANKING_GUIDE = """\
# Corporate Banking Guide
## Account Opening
### Required Documents
#### Companies Registered in Germany
#### Foreign Companies
### Identity Checks
## Payments
### Domestic Transfers
### International Transfers
#### SEPA Countries
#### Countries Outside SEPA
### Recurring Payments
## Lending
### Credit Lines
## Contacts and Escalation
"""


def banking_guide():
    matter = split("guide.md", (FIXTURES / "banking_guide.md").read_text())
    return parse(matter.body, matter.first_line)


def headings(text):
    return [(section.level, section.heading) for section in parse(text)]


def test_the_banking_guide_gives_exactly_its_tree_and_its_lines():
    sections = banking_guide()
    assert len(sections) == 15
    assert "".join(f"{'#' * s.level} {s.heading}\n" for s in sections) == BANKING_GUIDE
    assert [s.depth for s in sections] == [1, 2, 3, 4, 4, 3, 2, 3, 3, 4, 4, 3, 2, 3, 2]
    assert [s.parent for s in sections] == [None, 0, 1, 2, 2, 1, 0, 6, 6, 8, 8, 6, 0, 12, 0]
    expected = [(1, 6, 12, 14), (2, 5), (3, 4), (7, 8, 11), (9, 10), (13,)]
    assert [s.children for s in sections if s.children] == expected
    assert {s.root for s in sections} == {0}
    assert [s.last for s in sections] == [14, 5, 4, 3, 4, 5, 11, 7, 10, 9, 10, 11, 13, 13, 14]
    assert "".join(s.position[0] for s in sections) == "i" + "m" * 13 + "c"
    expected = ("Corporate Banking Guide", "Payments", "International Transfers", "SEPA Countries")
    assert sections[9].path == expected
    source = (FIXTURES / "banking_guide.md").read_text().split("\n")
    for section in banking_guide():
        assert source[section.line_start - 1].lstrip("# ") == section.heading
        for block in section.blocks:
            assert block.text == "\n".join(source[block.line_start - 1 : block.line_end])
            assert section.line_start < block.line_start <= block.line_end <= section.line_end
    assert [s.line_end + 1 for s in banking_guide()[:-1]] == [
        s.line_start for s in banking_guide()[1:]
    ]


def test_levels_that_jump_and_text_before_them_make_a_tree_without_holes():
    sections = parse("#### Deep\n\n# Top\n\n#### Jump\n\n## Back\n\n###### Six\n\n## Two\n")
    assert [(s.heading, s.level, s.depth, s.parent) for s in sections] == [
        ("Deep", 4, 1, None),
        ("Top", 1, 1, None),
        ("Jump", 4, 2, 1),
        ("Back", 2, 2, 1),
        ("Six", 6, 3, 3),
        ("Two", 2, 2, 1),
    ]
    assert [s.root for s in sections] == [0, 1, 1, 1, 1, 1]
    assert [s.position for s in sections] == ["intro", *["middle"] * 4, "conclusion"]
    before, first = parse("Intro.\n\n# First\n")
    assert (before.level, before.heading, before.path, before.depth) == (0, "", (), 0)
    assert (first.parent, first.root) == (None, 1)
    assert [block.text for block in before.blocks] == ["Intro."]


def test_kinds_of_headings_and_blocks_with_their_lines():
    assert headings(
        "Setext *one*\n===\n\nTwo\nlines\n---\n\n ## `code` & [link](x) ##\n### X { #id }\n"
        "## <video> &amp; `<audio>`\n## A {#a .b}\n"
    ) == [
        (1, "Setext one"),
        (2, "Two lines"),
        (2, "code & link"),
        (3, "X"),
        (2, "& <audio>"),
        (2, "A"),
    ]
    expected = ["id", "über-uns", "über-uns-1"]
    assert [s.anchor for s in parse("# X {#id}\n# Über uns\n# Über uns\n")] == expected
    text = (
        "Text\nmore.\n\n- item\n\n  ```py\n  x\n  ```\n- two\n\n```\ncode\n```\n\n| a |   b |\n"
        "|:-----|---|\n| c | d |\n\n> quote\n\n> [!tip] Title\n> callout\n\n$$\nx^2\n$$\n\n---\n\n"
        "<p>Some <b>HTML</b>.</p>\n\n    indented\n\n[ref]: https://x.org\n"
    )
    blocks = parse(text, first_line=10)[0].blocks
    assert [(b.type, b.contains, b.line_start, b.line_end) for b in blocks] == [
        ("text", (), 10, 11),
        ("list", ("code",), 13, 18),
        ("code", (), 20, 22),
        ("table", (), 24, 26),
        ("quote", (), 28, 28),
        ("callout", (), 30, 31),
        ("math", (), 33, 35),
        ("html", (), 39, 39),
        ("code", (), 41, 41),
    ]
    assert blocks[3].text == "| a | b |\n|:---|---|\n| c | d |"
    assert (blocks[7].text, blocks[8].text) == ("Some **HTML**.", "    indented")
    for text in [
        "```\n# in a fence\n```",
        "~~~~ md\n~~~\n# in a fence\n~~~~",
        "```\n# in a fence that nobody closed",
        "    # in indented code",
        "<div>\n# in HTML\n</div>",
        "<!--\n\n# in a comment\n\n-->",
        "> # in a quote",
        "- # in a list\n\n  ## and again",
        "#hashtag is no heading",
        "####### seven",
        "\\# escaped",
        "#",
        "## <!-- nothing to read -->",
        "| a |\n|---|\n| # cell |",
    ]:
        assert [level for level, _ in headings(text)] in ([], [0])


def test_ten_thousand_headings_take_linear_work():
    def calls(count):
        """How many functions are called: a count is the same on every machine."""
        text = "".join(f"{'#' * (n % 6 + 1)} Heading\n\nText {n}.\n\n" for n in range(count))
        counted = 0

        def count_call(_, event, __):
            nonlocal counted
            counted += event in {"call", "c_call"}

        sys.setprofile(count_call)
        try:
            sections = parse(text)
        finally:
            sys.setprofile(None)
        assert len(sections) == count
        return counted

    assert calls(10_000) < 8.5 * calls(1250)
