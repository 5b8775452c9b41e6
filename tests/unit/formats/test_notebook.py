"""Notebooks: cells in order, with the language of the kernel and the outputs."""

import json

import pytest

from pgrag.ground.errors import SourceError
from pgrag.ingest.page import PageOptions, read_page


def notebook(*cells, language="python"):
    metadata = {"kernelspec": {"language": language}}
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4}).encode()


def test_cells_and_outputs_in_order_without_colours_and_endless_lines():
    outputs = [
        {"output_type": "stream", "text": [f"{n}\n" for n in range(60)]},
        {"output_type": "execute_result", "data": {"text/plain": "42", "image/png": "AAAA"}},
    ]
    data = notebook(
        {"cell_type": "markdown", "source": ["# Pumps\n", "\n", "Prime."]},
        {"cell_type": "code", "source": "run()\n", "outputs": outputs},
        {"cell_type": "raw", "metadata": {"format": "text/latex"}, "source": "left out"},
        language="julia",
    )
    page = read_page("a.ipynb", data, PageOptions())
    assert page.body.startswith("# Pumps\n\nPrime.\n\n```julia\nrun()\n```\n\n```\n0\n1\n")
    assert "\n49\n…\n```\n\n```\n42\n```\n" in page.body
    assert "left out" not in page.body
    assert "AAAA" not in page.body
    assert [c.anchor for c in page.chunks if c.level == 1] == ["pumps"]
    outputs = [
        {"output_type": "stream", "text": "\x1b[1;31mhot\x1b[0m\n"},
        {"output_type": "stream", "text": "x" * 100_000},
        {"output_type": "stream", "text": "\x1b[2K"},
    ]
    data = notebook({"cell_type": "code", "source": "run()", "outputs": outputs})
    page = read_page("a.ipynb", data, PageOptions())
    assert page.body.endswith("```\nhot\n```\n\n```\n" + "x" * 1000 + "…\n```\n")
    for data in [b"{}", b"[1]", b'{"cells": 3}', b'{"cells": [[]]}', b"["]:
        with pytest.raises(SourceError, match=r"^a\.ipynb: is not a Jupyter notebook"):
            read_page("a.ipynb", data, PageOptions())


def body(*cells, **more):
    return read_page("a.ipynb", notebook(*cells, **more), PageOptions()).body


def test_what_a_cell_leaves_open_ends_with_it():
    for unclosed in ("~~~\nopen", "````md\n```\nopen\n```", "<!-- open", "<script>\nopen"):
        cells = [{"cell_type": "markdown", "source": text} for text in (unclosed, "## Next")]
        page = read_page("a.ipynb", notebook(*cells), PageOptions())
        assert [c.heading for c in page.chunks if c.level == 1] == ["Next"], unclosed


def test_errors_tables_markdown_and_pictures_are_shown_as_a_reader_sees_them():
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": "1%\r50%\r"},
        {"output_type": "stream", "name": "stdout", "text": "100%\ndone"},
        {"output_type": "error", "ename": "E", "traceback": ["\x1b[31mTrace\x1b[0m", "E: hot"]},
        {"output_type": "display_data", "data": {"text/markdown": "*kiln*", "text/plain": "x"}},
        {
            "output_type": "execute_result",
            "data": {
                "text/html": "<table><tr><th>a<th>b<tr><td>1<td>2</table>",
                "text/plain": "   a  b",
            },
        },
        {
            "output_type": "display_data",
            "data": {"text/plain": "<Figure size 6>", "image/png": "A"},
        },
    ]
    found = body({"cell_type": "code", "source": "%%bash\nrun", "outputs": outputs})
    assert found == (
        "```bash\n%%bash\nrun\n```\n\n```\n100%\ndone\n```\n\n```\nTrace\nE: hot\n```\n\n*kiln*\n\n"
        "| a | b |\n| --- | --- |\n| 1 | 2 |\n"
    )


def test_notebooks_of_version_3_attachments_and_titles():
    old = {
        "metadata": {"title": "Kilns"},
        "worksheets": [
            {"cells": [{"cell_type": "heading", "level": 2, "source": "Heat"}]},
            {"cells": [{"cell_type": "code", "input": "x", "outputs": [{"text": "7"}]}]},
        ],
    }
    page = read_page("a.ipynb", json.dumps(old).encode(), PageOptions())
    assert page.title == "Kilns"
    assert page.body.strip() == "## Heat\n\n```python\nx\n```\n\n```\n7\n```"
    source = "See ![an oven](attachment:oven.png)."
    cell = {"cell_type": "markdown", "source": source, "attachments": {"oven.png": {}}}
    assert body(cell) == "See an oven.\n"
