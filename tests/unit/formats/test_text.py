"""Plain text: headings where the text shows them, and nothing else is markup."""

from pgrag.ingest.page import PageOptions, read_page

HANDBOOK = """\
PUMP HANDBOOK
=============

Close *both* valves [1] and set <speed> to 3 # not 4.
1986. A year, no list.

Start
-----

2.1 Before the start

    pump --prime
    pump --check

- open the valve
- wait

MAINTENANCE

#hashtag is a word here.
"""


def read(text):
    return read_page("handbook.txt", text.encode(), PageOptions())


def test_headings_code_and_lists_are_told_by_their_look_and_signs_are_no_markup():
    page = read(HANDBOOK)
    headings = [(c.heading, c.heading_level) for c in page.chunks if c.level == 1]
    first = [("PUMP HANDBOOK", 1), ("Start", 2)]
    assert headings == [*first, ("2.1 Before the start", 3), ("MAINTENANCE", 2)]
    assert page.title == "PUMP HANDBOOK"
    assert "```\npump --prime\npump --check\n```" in page.body
    assert "- open the valve\n- wait" in page.body
    assert {chunk.anchor for chunk in read(HANDBOOK).chunks} <= {None, ""}
    assert not page.edges
    text = "\n".join(chunk.content for chunk in page.chunks)
    assert r"Close \*both\* valves [1] and set \<speed> to 3 # not 4." in text
    assert r"1986\. A year" in text


def test_markdown_and_an_empty_text_stay_as_they_are():
    text = "# Site\n\n- [Guide](https://a.example/guide): how to\n"
    page = read(text)
    assert page.body == text
    assert [edge.target for edge in page.edges] == ["https://a.example/guide"]
    assert read("").body.strip() == ""
    assert read(" \n\t\n").body.strip() == ""


MANUAL = """\
KILN(1)                      User Commands                      KILN(1)

NAME
       kiln - burn clay

SYNOPSIS
       kiln [-q] FILE

DESCRIPTION
       Burns clay.  The temperature is that of the pro\u2010
       gram.

       This program is written below:

           kiln --now

   Modes
       -q, --quiet
              Say *nothing*.

       -v     Say more,
              and more.

Clay 1.2                     May 2024                           KILN(1)
"""


def test_a_manual_page_has_its_sections_and_its_options_their_texts():
    page = read(MANUAL)
    headings = [(c.heading, c.heading_level) for c in page.chunks if c.level == 1]
    names = [("NAME", 2), ("SYNOPSIS", 2), ("DESCRIPTION", 2), ("Modes", 3)]
    assert headings == [("KILN(1)", 1), *names]
    assert "```\nkiln [-q] FILE\n```" in page.body
    assert "```\nkiln --now\n```" in page.body
    assert (
        "- **-q, --quiet**\n  Say \\*nothing\\*.\n\n- **-v**\n  Say more,\n  and more." in page.body
    )
    assert "is that of the program." in page.body
    assert "User Commands" not in page.body
    assert "May 2024" not in page.body
    bold = MANUAL.replace("NAME", "N\bNA\bAM\bME\bE").replace("Burns", "_\bB_\bu_\br_\bn_\bs")
    assert read(bold).body == page.body


def test_printed_pages_have_no_running_heads_and_no_contents():
    text = (
        "                            Burning of Clay\n\n"
        "Table of Contents\n\n   1. Heat ......... 1\n"
        "   2. Cold ......... 2\n\n1. Heat\n\n   A kiln is hot. It goes on and\n\n"
        "Potter                                [Page 1]\n\f\nRFC 1     Clay     May 2024\n\n"
        "   on.\n\n   Item  Degrees  Hours\n   ----  -------  -----\n   clay  1,000    3\n\n"
        "Potter                                [Page 2]\n\f\nRFC 1     Clay     May 2024\n\n"
        "2. Cold\n\n   It cools.\n\n   glaze\n     A coat of glass.\n"
    )
    body = read(text).body
    assert body == (
        "# Burning of Clay\n\n## 1. Heat\n\nA kiln is hot. It goes on and\non.\n\n"
        "```\nItem  Degrees  Hours\n----  -------  -----\nclay  1,000    3\n```\n\n"
        "## 2. Cold\n\nIt cools.\n\n**glaze**\nA coat of glass.\n"
    )
