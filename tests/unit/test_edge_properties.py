"""What holds for the edges of any page: all links with their lines, and nothing from code."""

from hypothesis import given, settings
from hypothesis import strategies as st

from pgrag.ingest.page import PageOptions, read_page

quick = settings(max_examples=40, derandomize=True, deadline=None)

#: Every form with the target "yes"; what stands in code has "no".
LINKS = [
    "[[yes]]", "[[yes|words]]", "![[yes]]", "[words](yes)", "[words](yes 'title')",
    "[words](<yes>)", "![alt](yes)", "[`code`](yes)", "[[rel:uses yes]]", "#yes",
    '<a href="yes">words</a>', "[ref]", '{{< note >}} [words]({{< ref "yes" >}})', "[[yes#part]]",
]  # fmt: skip
links = st.sampled_from(LINKS)
hidden = links.map(lambda link: link.replace("yes", "no").replace("[ref]", "[[no]]"))
words = st.text("abc äß漢.,!_-", max_size=20).map(lambda text: text.strip(" -") + " ")

shown_line = st.builds(lambda before, link: f"{before}{link} end", words, links)
spans = st.builds(
    lambda before, link, ticks: f"{before}{ticks}{link}{ticks} end",
    words,
    hidden.filter(lambda link: "`" not in link),
    st.sampled_from(["`", "``"]),
)
comments = st.builds(
    lambda link, fence: f"{fence[0]}{link}{fence[1]} end",
    hidden,
    st.sampled_from([("words <!-- ", " -->"), ("%%", "%%"), ("$x_", "$"), ("$$", "$$")]),
).filter(lambda line: not line.startswith("$") or "](" not in line)
lines = st.lists(st.one_of(shown_line, spans, comments, words), min_size=1, max_size=4)

fences = st.builds(
    lambda inside, fence: "\n".join([f"{fence}text", *inside, "", *inside, fence]),
    st.lists(hidden, min_size=1, max_size=3),
    st.sampled_from(["```", "~~~~"]),
)
indented = st.lists(hidden, min_size=1, max_size=3).map(
    lambda inside: "<!-- -->\n\n" + "\n".join(f"    {line}" for line in inside)
)
comment_blocks = hidden.map(lambda link: f"<!--\n{link}\n\n{link}\n-->")
paragraphs = lines.map("\n".join)
items = lines.map(lambda inside: "\n".join(f"- {line.strip() or 'x'}" for line in inside))
quotes = lines.map(lambda inside: "\n".join(f"> {line}" for line in inside))
headings = shown_line.map(lambda line: f"## {line}")
tables = lines.map(
    lambda inside: (
        "| a | b |\n|---|---|\n"
        + "\n".join(f"| x | {line.replace('|', chr(92) + '|')} |" for line in inside)
    )
)
fenced_items = fences.map(
    lambda fence: "- item\n\n" + "\n".join(f"  {x}" for x in fence.split("\n"))
)
blocks = st.one_of(
    paragraphs, items, quotes, headings, tables, fences, indented, comment_blocks, fenced_items
)
pages = st.builds(
    lambda head, parts: head + "\n\n".join(["First words.", *parts, "[ref]: yes"]) + "\n",
    st.sampled_from(["", "---\ntitle: x\n---\n", "---\na: 1\n---\n\n\n"]),
    st.lists(blocks, max_size=12),
)


def found(text):
    return list(read_page("a.md", text.encode(), PageOptions()).edges)


@given(pages)
@quick
def test_every_link_is_found_in_its_line_and_nothing_in_code(text):
    expected = [
        number
        for number, line in enumerate(text.split("\n"), start=1)
        if ("yes" in line or "[ref]" in line) and not line.startswith("[ref]:")
    ]
    edges = found(text)
    assert {edge.target for edge in edges} <= {"yes"}
    assert [edge.line for edge in edges] == expected


@given(pages)
@quick
def test_an_edge_belongs_to_a_chunk_that_holds_its_line(text):
    page = read_page("a.md", text.encode(), PageOptions())
    for edge in page.edges:
        chunk = page.chunks[edge.document]
        # a heading with nothing below it is in no paragraph
        assert chunk.level > 0
        assert chunk.line_start <= edge.line <= chunk.line_end
        assert len(edge.sentence) <= 300
    assert page.head + page.body == text


@given(st.text("[]()!|#`<>{}%$\\:relyno \n-&\"'/.", max_size=120))
@quick
def test_no_text_whatever_breaks_the_parser(text):
    page = read_page("a.md", text.encode(), PageOptions())
    last_line = text.count("\n") + 1
    for edge in page.edges:
        assert 1 <= edge.line <= last_line
        assert 0 <= edge.document < len(page.chunks)
        assert edge.target or edge.fragment
