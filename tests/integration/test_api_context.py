"""`/v1/context`: rows, and the text they make."""

QUERY = "depth over the sill"


def test_the_text_is_its_blocks(harbour):
    made = harbour.ok("/v1/context", q=QUERY, library="harbour")
    assert made["text"] == "\n\n".join(block["block"] for block in made["blocks"])
    assert made["tokens"] == sum(block["tokens"] for block in made["blocks"])
    assert "predicted height minus 1.8 metres" in made["text"]
    assert made["resolved"][0]["version"] == "2.1"
    assert made["notices"] == []


def test_nothing_found_is_an_empty_text(harbour):
    made = harbour.ok("/v1/context", q=QUERY, min_score=2)
    assert (made["text"], made["tokens"], made["blocks"]) == ("", 0, [])
