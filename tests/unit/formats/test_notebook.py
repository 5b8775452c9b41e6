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
        {"cell_type": "raw", "source": "left out"},
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
