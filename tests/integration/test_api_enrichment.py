"""What language models wrote, over REST."""

import psycopg
import pytest
from api_client import serving
from psycopg.types.json import Jsonb

TEXT = "The blade is cleaned with a dry brush after each cut, and oiled once a week."
PAGES = [{"key": f"{tool}.md", "body": f"{tool}: {TEXT}"} for tool in ("saw", "plane")]


@pytest.fixture(scope="module")
def shop(clone):
    with clone() as url:
        with psycopg.connect(url) as connection:
            for version in ("1.0", "2.0"):
                connection.execute(
                    "select pgrag.ingest_pages('team/shop', %s, %s)", [Jsonb(PAGES), version]
                )
                connection.execute("select pgrag.finish_version('team/shop', %s)", [version])
            connection.execute("""
                select pgrag.store_enrichments('team/shop', 'context', 'scribe', '1', (
                    select jsonb_agg(
                        jsonb_build_object(
                            'input_hash', p.input_hash, 'document_ids', p.document_ids,
                            case p.key when 'saw.md' then 'text' else 'reason' end, 'Words.'
                        )
                    )
                    from pgrag.pending_enrichments('team/shop', 'context', 'scribe', '1') as p
                ))
            """)
        with serving(url) as client:
            yield client


def test_state_and_failures(shop):
    answer = shop.ok("/v1/libraries/team/shop/enrichment")
    assert (answer["library"], answer["version"]) == ("team/shop", None)
    assert answer["kinds"][0] == {
        "kind": "context", "setting": False, "documents": 4, "enriched": 2, "failed": 2, "kept": 1,
        "models": ["scribe"],
    }  # fmt: skip
    assert answer["kinds"][1]["documents"] == 0
    assert [(f["key"], f["label"], f["reason"]) for f in answer["failures"]] == [
        ("plane.md", "1.0", "Words."), ("plane.md", "2.0", "Words."),
    ]  # fmt: skip
    newest = shop.ok("/v1/libraries/team/shop/enrichment", version="latest", top_k=0)
    assert (newest["version"], newest["kinds"][0]["enriched"]) == ("2.0", 1)
    assert newest["failures"] == []
