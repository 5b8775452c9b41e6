"""`pgrag search --graph` for people and for machines."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import CommandLine


@pytest.fixture
def garden(pgrag: CommandLine, fixtures_folder: Path) -> CommandLine:
    pgrag.run("index", "garden", fixtures_folder / "garden")
    return pgrag


def test_links_count_and_reasons_are_told(garden: CommandLine) -> None:
    asked = ("search", "compost for beds", "-l", "garden", "-n", "3")
    plain, linked, told, always, off, pages, context = garden.run_all(
        (*asked, "--json"),
        (*asked, "--graph", "--explain", "--json"),
        (*asked, "--graph", "--explain"),
        ("configure", "garden", "graph.search=true", "--json"),
        (*asked, "--no-graph", "--json"),
        ("pages", "compost for beds", "-l", "garden", "--graph", "--json"),
        ("context", "compost for beds", "-l", "garden", "--graph", "--json"),
    )
    assert all(hit["score"] == hit["hybrid_score"] for hit in plain.json)
    first = linked.json[0]
    assert first["score"] > first["hybrid_score"]
    assert first["explanation"]["graph"]["score"] == first["score"]
    for reason in first["explanation"]["reasons"]:
        assert " ".join(reason.split()) in " ".join(told.out.split())
    assert "best pages" in told.out
    assert "graph 0." in told.out
    assert always.json["graph"]["search"] is True
    strip = [(hit["document_id"], hit["score"]) for hit in plain.json]
    assert [(hit["document_id"], hit["score"]) for hit in off.json] == strip
    assert pages.json
    assert context.json
