"""The copies of a library that the evaluation measures: what they lack, and what they keep."""

from benchmarks.variants import UNLINKED, links_lose_words, without_front_matter, without_link_texts

from pgrag.evaluation.labelled import open_corpus
from pgrag.ingest import document
from pgrag.ingest.page import PageOptions, read_page

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


def test_words_of_links_go_and_edges_and_lines_stay():
    whole = read_page("care.md", SOURCE.encode(), PageOptions())
    with links_lose_words(UNLINKED):
        bare = document.read_page("care.md", SOURCE.encode(), PageOptions())
    assert bare.edges == whole.edges
    assert {"water.md", "Frost", "Soil"} <= {edge.target for edge in bare.edges}
    left = "\n".join(chunk.content for chunk in bare.chunks)
    for words in ("how to water", "cold", "Frost", "long", "words", "reference", "[x]"):
        assert words in "\n".join(chunk.content for chunk in whole.chunks)
        assert words not in left
    for kept in ("[code](kept.md)", "[fence](kept.md)", "![picture](can.png)"):
        assert kept in left
    for text, left in [
        ("a [b [c] d](e) f", "a  f"),
        ("[a](<b c.md>)[d](e)", ""),
        ("a [b\nc](d)\ne", "a \n\ne"),
        ("not [a link] here", "not [a link] here"),
        ("- [ ] a task", "- [ ] a task"),
    ]:
        assert without_link_texts(text) == left


def test_pages_without_front_matter(tmp_path):
    text = "---\ntitle: Nodes\npath: [Ops, Nodes]\n---\n\n# Draining\n\nCordon it first.\n"
    (tmp_path / "a.md").write_text(text)
    [whole] = open_corpus(tmp_path).files()
    [plain] = without_front_matter(open_corpus(tmp_path)).files()
    assert read_page(whole.key, whole.read(), PageOptions()).path == ("Ops", "Nodes")
    page = read_page(plain.key, plain.read(), PageOptions())
    assert (page.title, page.front_matter) == ("Draining", {})
    assert page.body.strip() == "# Draining\n\nCordon it first."
