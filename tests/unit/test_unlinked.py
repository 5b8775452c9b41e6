"""Pages whose links have lost their words."""

from __future__ import annotations

import pytest

from pgrag.ingest.page import PageOptions, read_page
from pgrag.ingest.unlinked import without_link_texts

SOURCE = """# Care

See [how to water](water.md "Water") and [[Frost|the cold]], or ![[Soil]].

Some [long
words](soil.md#sand) here, a ![picture](can.png), and `[code](kept.md)`.

```
[fence](kept.md)
```

By [reference][1], see [x](a_(b).md).

[1]: water.md
"""


def test_words_go_and_edges_and_lines_stay():
    whole = read_page("care.md", SOURCE.encode(), PageOptions())
    bare = read_page("care.md", SOURCE.encode(), PageOptions(link_texts=False))
    assert [(e.target, e.line, e.kind) for e in bare.edges] == [
        (e.target, e.line, e.kind) for e in whole.edges
    ]
    assert {"water.md", "Frost", "Soil"} <= {edge.target for edge in bare.edges}
    left = "\n".join(chunk.content for chunk in bare.chunks)
    for words in ("how to water", "cold", "Frost", "long", "words", "reference", "[x]"):
        assert words in "\n".join(chunk.content for chunk in whole.chunks)
        assert words not in left
    assert "[code](kept.md)" in left
    assert "[fence](kept.md)" in left
    assert "![picture](can.png)" in left
    assert bare.body == whole.body
    assert bare.source_hash != whole.source_hash


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a [b [c] d](e) f", "a  f"),
        ("[a](<b c.md>)[d](e)", ""),
        ("a [b\nc](d)\ne", "a \n\ne"),
        ("not [a link] here", "not [a link] here"),
        ("- [ ] a task", "- [ ] a task"),
    ],
)
def test_what_is_a_link(text, left):
    assert without_link_texts(text) == left
