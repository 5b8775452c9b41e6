"""The parser of blocks gives the tokens of the parser that asks every rule about every line."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from pgrag.ingest.text.block_rules import block_parser

FIXTURES = Path(__file__).parents[1] / "fixtures"

_ours = block_parser()
_theirs = MarkdownIt("commonmark").enable("table")
_theirs.core.ruler.enableOnly(["normalize", "block"])

#: What begins blocks, or nearly does, in indents that matter.
_starts = st.sampled_from([
    "", "```", "~~~", "``", ">", "> >", "*", "- ", "-", "+ ", "* * *", "---", "===", "___",
    "1. ", "1) ", "2. ", "0123456789. ", "[a]: /b", "[a]:", "[a", "<div>", "<!--", "-->", "<a>",
    "</p>", "<?", "# ", "#", "####### ", "| a | b |", "|---|:-:|", "--- | ---", ":--", "a | b",
    "word", "\\# word", "é", "\t",
])  # fmt: skip
_lines = st.builds(
    lambda indent, starts, rest: indent + "".join(starts) + rest,
    st.sampled_from(["", " ", "  ", "   ", "    ", "      ", "\t"]),
    st.lists(_starts, max_size=3),
    st.sampled_from(["", " text", " ", '"title"', " #"]),
)


def tokens(parser, text):
    """Return the tokens of a text and the definitions of its links."""
    environment = {}
    return [dict(token.as_dict()) for token in parser.parse(text, environment)], environment


@settings(max_examples=1500, deadline=None)
@given(st.lists(_lines, max_size=12))
def test_any_text_has_the_tokens_of_all_rules(lines):
    text = "\n".join(lines)
    assert tokens(_ours, text) == tokens(_theirs, text)


@pytest.mark.parametrize("path", sorted(FIXTURES.rglob("*.md")), ids=lambda path: path.name)
def test_pages_have_the_tokens_of_all_rules(path):
    text = path.read_text("utf-8")
    assert tokens(_ours, text) == tokens(_theirs, text)
