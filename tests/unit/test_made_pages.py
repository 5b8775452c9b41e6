"""Made pages: the same ones every time, like their sources, with a vocabulary that grows."""

import re

import pytest
from benchmarks.made_pages import GENERATED_EVERY, Maker

SOURCE = """---
title: Pumps
---

# Care of pumps

Clean the filter before every season with lukewarm water and soap.

```
gasket = replace(valve)
```

## Winter storage

Drain the pump. Store the pump without pressure in a dry place until spring comes back.
"""


@pytest.fixture
def maker(tmp_path):
    (tmp_path / "guide").mkdir()
    for number in range(5):
        (tmp_path / "guide" / f"{number}.md").write_text(SOURCE, "utf-8")
    return Maker.read(tmp_path)


def test_pages_depend_on_seed_and_number_and_their_vocabulary_grows(maker, tmp_path):
    pages = [maker.page(n) for n in range(9)]
    assert pages == [Maker.read(tmp_path).page(n) for n in range(9)]
    assert len({*pages, Maker.read(tmp_path, seed=2).page(1)}) == 10
    few, many = (
        {word for n in range(pages) for word in re.findall(r"\w+", maker.page(n))}
        for pages in (40, 400)
    )
    assert len(many) > len(few) + 100
    queries = maker.queries(10)
    assert {"Care of pumps", "Winter storage"} <= set(queries)
    assert "Clean the filter before every season with lukewarm" in queries
    assert queries == maker.queries(10)


def test_copies_keep_the_structure_and_swap_a_word_everywhere_on_the_page(maker):
    source = re.findall(r"\w+|\W+", maker.texts[0])
    changed = []
    for number in (n for n in range(40) if n % GENERATED_EVERY):
        copy = re.findall(r"\w+|\W+", maker.page(number).split("---\n\n", 1)[1])
        pairs = set(zip(source, copy, strict=True))
        assert len(pairs) == len(set(source)), "one word for each"
        assert all(re.fullmatch("[A-Za-z]{4,}", old) for old, new in pairs if old != new)
        changed.append(sum(old != new for old, new in pairs) / len(pairs))
    assert 0.02 < sum(changed) / len(changed) < 0.3


def test_a_folder_without_words_is_refused(tmp_path):
    (tmp_path / "a.md").write_text("1 2 3", "utf-8")
    with pytest.raises(SystemExit, match="has no Markdown"):
        Maker.read(tmp_path)
