"""Extractive summaries (R10)."""

from pgrag.ingest.chunks.chunks import page_summary, section_summary
from pgrag.ingest.text.markdown import parse

TEXT = """\
# Pumps

A **pump** moves water; see [valves](valves.md). It needs power.

## Priming

1. Fill the [housing](#housing).
2. Close the lid

Then start.

### Housing

```sh
pumpctl fill
```

## Storage

> Keep it dry.
"""


def test_pages_and_sections_are_summarised_by_their_text_and_headings():
    assert page_summary("Pumps", "All about `pumps`.", parse(TEXT)) == (
        "All about pumps.\n\n- Priming\n  - Housing\n- Storage"
    )
    summary = page_summary("Pumps", None, parse(TEXT))
    assert summary.startswith(
        "A pump moves water; see valves. It needs power. Fill the housing. Close the lid"
    )
    assert summary.endswith("\n\n- Priming\n  - Housing\n- Storage")
    assert page_summary("Pumps", None, ()) == "Pumps"
    assert section_summary(parse("# Empty\n"), 0) == "Empty"
    sections = parse(TEXT)
    assert section_summary(sections, 0) == (
        "A pump moves water; see valves. It needs power.\n\n"
        "- Priming: Fill the housing. Close the lid Then start.\n- Storage: Keep it dry."
    )
    assert section_summary(sections, 2) == "pumpctl fill"


def test_summaries_are_bounded_and_end_at_a_sentence():
    sentence = "Water flows downhill unless something lifts it. "
    sections = parse("\n".join(f"# Heading number {n}\n\n{sentence * 40}\n" for n in range(500)))
    page = page_summary("T", None, sections)
    assert len(page) <= 1200
    assert page.split("\n\n")[0].endswith("lifts it.")
    section = section_summary(sections, 3)
    assert 300 < len(section) <= 500
    assert section.endswith("lifts it.")
    parent = "# Top\n\n" + "\n".join(f"## Part {n}\n\n{sentence * 9}\n" for n in range(99))
    assert len(section_summary(parse(parent), 0)) <= 500
    link = "[a label of some length](https://example.org/" + "path/" * 60 + ")"
    summary = page_summary("T", None, parse(" and ".join([link] * 6)))
    assert summary.startswith("a label of some length and")
    assert "](" not in summary
