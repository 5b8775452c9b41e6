"""What kind of question a query is, over REST."""

from api_client import ApiClient, problem


def test_intent_of_a_query(harbour: ApiClient) -> None:
    answer = harbour.ok("/v1/intent", q="Wie mache ich das Boot fest")
    assert (answer["intent"], answer["query_type"]) == ("PROCEDURAL", "procedural")
    assert answer["rule"] == "how-to-de"
    assert answer["matched"] == "Wie mache ich"
    assert answer["levels"] == [1, 2]
    plain = harbour.ok("/v1/intent", q="mooring fees")
    assert (plain["intent"], plain["confidence"], plain["rule"]) == ("SEMANTIC", 0, None)


def test_invalid_parameters_are_refused(harbour: ApiClient) -> None:
    for address, field in [
        ("/v1/intent", "q"),
        ("/v1/intent?q=", "q"),
        ("/v1/intent?q=%00", "q"),
        ("/v1/intent?q=a&language=de", "language"),
    ]:
        document = problem(harbour.get(address), 422, "invalid-request")
        assert [error["field"] for error in document["errors"]] == [field]
