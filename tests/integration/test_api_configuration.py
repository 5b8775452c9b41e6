"""`/v1/configuration` and `/v1/libraries/…/synonyms`: rules and synonyms, read and changed."""

import pytest
from api_client import problem

RULE = {"rules": {"tickets": {"pattern": "T-[0-9]{4,}", "intent": "KNOWN_ITEM", "confidence": 1}}}
TICKETS = {"entries": RULE, "note": "tickets are known items"}


@pytest.fixture
def restored(harbour):
    """What a test brings in is gone after it."""
    yield harbour
    harbour.request("PATCH", "/v1/configuration", json={"entries": {"rules": {"tickets": None}}})
    gone = {"synonyms": {"PTO": None}}
    harbour.request("PATCH", "/v1/libraries/harbour/synonyms", json=gone)


def test_a_rule_is_tried_and_brought_in(restored):
    api = restored
    for dry_run in (True, False):
        answer = api.request("PATCH", "/v1/configuration", json=TICKETS | {"dry_run": dry_run})
        assert answer.status_code == 200, answer.text
        [change] = answer.json()["changes"]
        assert (change["section"], change["name"], change["change"]) == ("rules", "tickets", "add")
        rules = api.ok("/v1/configuration")["configuration"]["rules"]
        assert ("tickets" in rules) is not dry_run
    assert api.ok("/v1/intent", q="T-1234")["rule"] == "tickets"
    latest = api.ok("/v1/configuration/versions", top_k=1)["versions"][0]
    assert (latest["origin"], latest["note"]) == ("user", "tickets are known items")


def test_pages_outdated_by_a_page_type_are_counted(harbour):
    def changed(entry, **options):
        body = {"entries": {"page_types": {"default": entry}}} | options
        answer = harbour.request("PATCH", "/v1/configuration", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()["outdated"]

    assert changed({"inject": ["status"]}, dry_run=True) == []
    rows = changed({"inject": ["status"]})
    assert {row["library"] for row in rows} >= {"harbour"}
    assert set(rows[0]) == {"library", "version", "pages", "total"}
    assert changed({"description": "As before."}) == []


def test_errors_name_the_entry(harbour):
    entries = {"rules": {"tickets": {"words": ["a"], "intent": "NOPE"}}}
    response = harbour.request("PATCH", "/v1/configuration", json={"entries": entries})
    assert "NOPE" in problem(response, 422, "invalid-input")["detail"]


def test_synonyms_are_set_listed_and_removed(restored):
    address = "/v1/libraries/harbour/synonyms"
    body = {"synonyms": {"PTO": ["paid time off", "leave"]}}
    answer = restored.request("PATCH", address, json=body)
    assert answer.status_code == 200, answer.text
    [synonym] = restored.ok(address)["synonyms"]
    assert (synonym["term"], synonym["expansions"]) == ("PTO", ["paid time off", "leave"])
    gone = restored.request("PATCH", address, json={"synonyms": {"PTO": None}})
    assert gone.json() == {"library": "harbour", "synonyms": []}
    wrong = restored.request("PATCH", address, json={"synonyms": {"PTO": 5}})
    assert "PTO" in problem(wrong, 422, "invalid-input")["detail"]
    problem(restored.get("/v1/libraries/nowhere/synonyms"), 404, "unknown-library")
