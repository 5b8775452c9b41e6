"""Quarto and R Markdown: chunks, boxes and references as Markdown."""

from pgrag.ingest.formats.formats import convert


def test_chunks_lose_their_options_and_boxes_become_callouts():
    text = (
        "---\ntitle: Kilns\n---\n\n## Heat {#sec-heat .unnumbered}\n\n"
        "```{r setup, include=FALSE}\nlibrary(clay)\n```\n\nSee @fig-heat, `r nrow(x)`.\n\n"
        '```{r burn, echo=TRUE}\n#| label: fig-heat\n#| fig-cap: "Heat by hour"\nplot(x)\n```\n\n'
        "::: {.callout-warning}\n## Careful\nIt is *hot*.\n:::\n\n::: {.column}\nbeside\n:::\n"
    )
    markdown = convert("guide.qmd", text.encode()).markdown
    assert markdown.startswith("---\ntitle: Kilns\n---\n\n## Heat {#sec-heat}\n")
    assert "See [Figure heat](#fig-heat), `nrow(x)`." in markdown
    assert '<a id="fig-heat"/>\n\n```r\nplot(x)\n```\n\nHeat by hour' in markdown
    assert "> [!warning] Careful\n>\n> It is *hot*." in markdown
    assert "beside" in markdown
    for hidden in ("library", "#|", ":::", "echo", ".unnumbered"):
        assert hidden not in markdown
