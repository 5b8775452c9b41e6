"""Equal texts are told apart by the path that their pages' front matter gives them."""

import pytest
from labelled import import_set, metrics
from library import document, ingest, keys, page, run, value
from psycopg.types.json import Jsonb

TEXT = "Alle Funktionen, ihre Argumente und was sie zurückgeben, mit einem Beispiel für jede."
LANGUAGES = ("JavaScript", "Python", "Rust")


def reference(language, *, with_path):
    """A page that says nothing of its language but in its path."""
    path = [f"{language} API", "Übersicht"] if with_path else ["Übersicht"]
    return page(f"{len(language)}{language[0].lower()}.md", document(TEXT, path=path),
                title="Übersicht", path=path, url="/seite")  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def references(module_connection):
    for name, with_path in (("eval-api", True), ("eval-api-plain", False)):
        pages = [reference(language, with_path=with_path) for language in LANGUAGES]
        ingest(module_connection, name, pages, language="de")
    queries = [
        {
            "id": language,
            "text": f"{language} API Übersicht",
            "judgements": {reference(language, with_path=True)["key"]: 1},
        }
        for language in LANGUAGES
    ]
    import_set(module_connection, queries, name="api", library="eval-api")


@pytest.mark.parametrize("function", ["keyword_search", "semantic_search", "search"])
def test_paths_of_front_matter_tell_equal_texts_apart(connection, function):
    for language in LANGUAGES:
        rows = run(connection, function, query=f"{language} API Übersicht", library="eval-api",
                   max_per_page=1)  # fmt: skip
        assert keys(rows)[0] == reference(language, with_path=True)["key"]
    found = {}
    for library in ("eval-api", "eval-api-plain"):
        configuration = {"function": function, "library": library}
        run_id = value(
            connection, "select pgrag.run_evaluation('api', 'x', %s)", Jsonb(configuration)
        )
        found[library] = metrics(connection, run_id, "mrr@10")["mrr@10"]
    assert found["eval-api"] == 1
    # By chance: the right one of three is first once, and second or third otherwise.
    assert found["eval-api-plain"] < 0.7
