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
