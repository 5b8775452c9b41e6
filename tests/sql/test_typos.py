"""Words that no passage has, and near ones that are searched in their place."""

import pytest
from library import contents, explained, ids, ingest, page, run, search


def said(notices):
    """The notices, but for that of a weak match."""
    return [notice for notice in notices if not notice.startswith("No good match")]


@pytest.fixture(scope="module")
def manual(module_connection):
    ingest(module_connection, "manual", [
        page("upload.md", "How to upload a file: send the file in a form."),
        page("inject.md", "Dependency injection gives a function its dependencies."),
        page("auth.md", "Authentication of users with middleware and websockets."),
        page("query.md", "Parameters of a request, and the session of a database."),
        page("service.md", "A service handles errors, and has a response model."),
        page("api.md", "The API of the kubectl program made the date of a room."),
    ], language="en")  # fmt: skip
    return "manual"


def note(near, word):
    return f"Also searched for “{near}” because no passage has “{word}”."


@pytest.mark.parametrize(
    ("query", "right", "near"),
    [
        ("how do I uplaod a flie", "how do I upload a file", ["upload", "file"]),
        ("depedency injecton", "dependency injection", ["dependency", "injection"]),
        ("Autentication?", "Authentication?", ["Authentication"]),
        ("middlware (websokets)", "middleware (websockets)", ["middleware", "websockets"]),
        ("paramaters", "parameters", ["parameters"]),
        ("databse sesion", "database session", ["database", "session"]),
        ("respones modle", "response model", ["response", "model"]),
        ("handle erors of a servcie", "handle errors of a service", ["errors", "service"]),
        ("kubctl", "kubectl", ["kubectl"]),
    ],
)
def test_a_misspelt_query_is_searched_like_the_right_one(
    connection, manual, notices, query, right, near
):
    for function in ["search", "keyword_search", "semantic_search", "context"]:
        wanted = run(connection, function, query=right, library=manual)
        assert said(notices) == []
        hits = run(connection, function, query=query, library=manual)
        assert ids(hits)[0] == ids(wanted)[0]
        # Guesses weigh half as much as words that are there.
        if len(near) == len(right.split()):
            assert [hit["score"] for hit in hits] == [hit["score"] for hit in wanted]
        plain = [word.strip("?()") for word in query.split()]
        misspelt = [word for word in plain if word not in right]
        assert said(notices) == [note(*pair) for pair in zip(near, misspelt, strict=True)]
        notices.clear()


@pytest.mark.parametrize(
    "query",
    [
        # All words are known, or none is near.
        "upload a file", "zzzqqq xyzzyplugh", "how to upload a zzzqqq",
        # Another language than that of the pages.
        "Wie lade ich eine Datei hoch", "comment ajouter un middlware", "come caricare una flie",
        # Names, marks, signs.
        '"uplaod" a file', "“uplaod” a file", "+file uplaod-x", "a flie-name", "uplaod.md",
        "file -uplaod", "the useFlie and FLIE", "flie2 and 2flie", "what did Mr Servise make",
        # A word of the language, a stop word, a prefix.
        "maid of a room", "waht is an upload", "thier service", "preupload",
        # Other letters with the same stem: api. An unlikely edit.
        "apy of a service", "remiddleware", "xervice", "hasdle of a service",
        # Most words are of another subject.
        "flink zookeepers rebalancing uplaod",
    ],
)  # fmt: skip
def test_other_words_are_left_alone(connection, manual, notices, query):
    search(connection, query, library=manual)
    assert said(notices) == []


def test_a_required_word_is_only_suggested(connection, manual, notices):
    assert search(connection, "+uplaod a file", library=manual) == []
    assert said(notices) == []
    [row, *_] = run(connection, "suggest", query="+uplaod a file", library=manual)
    assert row["suggestion"] == "+upload a file"


def test_the_near_word_is_of_the_language_of_the_query(connection, notices):
    ingest(connection, "both", [
        page("en.md", "How to sort the list of a file.", language="en"),
        page("de.md", "Warum die Dateien im Westen auf der Liste stehen.", language="de"),
    ])  # fmt: skip
    for query in ["Wessen Dateien", "Wer listete Dateien", "Worum die Dateien stehen"]:
        search(connection, query, library="both")
    assert said(notices) == []
    search(connection, "how to srot the lits", library="both")
    search(connection, "Warum die Datien auf der Litse stehen", library="both")
    assert said(notices) == [
        note("sort", "srot"), note("list", "lits"), note("Dateien", "Datien"),
    ]  # fmt: skip
    notices.clear()
    guests = page("ru.md", "Гости швартуются у причала, начальник порта.")
    ingest(connection, "port", [guests], language="ru")
    [hit] = run(connection, "keyword_search", query="начльник порта", library="port")
    assert contents([hit]) == ["Гости швартуются у причала, начальник порта."]
    assert said(notices) == [note("начальник", "начльник")]


def test_a_word_of_any_searched_library_is_right(connection, manual, notices):
    ingest(connection, "other", [page("flie.md", "The flie is an insect.")])
    assert search(connection, "flie")[0]["key"] == "flie.md"
    assert said(notices) == []
    search(connection, "flie", library=manual)
    assert said(notices) == [note("file", "flie")]


def test_a_guess_weighs_half_as_much_as_a_word_that_is_there(connection, manual):
    def weights(query):
        [hit, *_] = explained(connection, query)
        return {w["lexeme"]: w["weight"] for w in hit["explanation"]["keyword"]["lexemes"]}

    right, guessed = weights("depend injection"), weights("depend injectoin")
    assert guessed["inject"] / guessed["depend"] == pytest.approx(
        right["inject"] / right["depend"] / 2
    )
    assert sum(guessed.values()) == pytest.approx(sum(right.values()))
    # So what matches the words that are there rises.
    assert guessed["depend"] > right["depend"]


def test_the_near_word_is_marked_and_explained(connection, manual):
    [hit, *_] = explained(connection, "uplaod", snippets=True)
    assert "**upload**" in hit["snippet"]
    assert {w["lexeme"] for w in hit["explanation"]["keyword"]["lexemes"]} == {"upload"}


def test_queries_without_a_near_word_are_the_same_to_the_last_digit(connection, manual):
    queries = [
        "how to upload a file", "dependency injection", "session of a database", "zzzqqq file",
        "Wie lade ich eine Datei hoch", '"uplaod" a file', "response model -service",
    ]  # fmt: skip

    def found(query):
        hits = search(connection, query, library=manual, explain=True)
        return [(hit["document_id"], hit["score"], hit["explanation"]["alpha"]) for hit in hits]

    with_near = {query: found(query) for query in [*queries, "uplaod a file"]}
    connection.execute(
        "create or replace function _pgrag.near_words(query text, library_ids bigint[],"
        " is_sure boolean) returns table (word text, replacement text, distance integer,"
        " document_count bigint) language sql as 'select null, null, 0, 0::bigint where false'"
    )
    without = {query: found(query) for query in with_near}
    assert {query for query in with_near if with_near[query] != without[query]} == {"uplaod a file"}
