"""`/v1/libraries/{library}/text` and `/v1/libraries/{library}/health`."""

from __future__ import annotations

TEXT = "/v1/libraries/harbour/text"


def test_lines_come_with_their_context_and_their_page(harbour):
    found = harbour.ok(TEXT, pattern="SILL", case="ignore", context=1, top_k=2, version="2.1")
    assert found["version"] == "2.1"
    assert len(found["lines"]) == 2
    for line in found["lines"]:
        [first, *_] = line["matches"]
        assert line["content"][first["start"] - 1 : first["end"] - 1].lower() == "sill"
        assert len(line["lines_before"]) == 1
        body = harbour.ok(f"/v1/pages/{line['page_id']}")["body"]
        assert line["content"] in body.splitlines()
    rest = harbour.ok(TEXT, pattern="SILL", case="ignore", after=found["next"], version="2.1")
    assert not {str(line["cursor"]) for line in rest["lines"]} & {
        line["cursor"] for line in found["lines"]
    }
    assert rest["next"] is None


def test_every_argument_reaches_the_database(harbour):
    assert harbour.ok(TEXT, pattern="SILL")["lines"] == []
    assert harbour.ok(TEXT, pattern="sill", case="smart", path="no/**")["lines"] == []
    assert harbour.ok(TEXT, pattern="sil", mode="word")["lines"] == []
    lines = harbour.ok(TEXT, pattern=r"^##\s\w", mode="regex", timeout_ms=60_000)["lines"]
    assert lines
    assert all(line["content"].startswith("## ") for line in lines)


def test_health_says_that_nothing_is_wrong(harbour):
    found = harbour.ok("/v1/libraries/harbour/health", version="2.1", checks="documents,pages")
    assert found == {"library": "harbour", "healthy": True, "findings": []}
