"""The retriever for LangChain: its standard tests, and what they do not ask."""

import asyncio
import copy
import multiprocessing
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
from langchain_core.tools import create_retriever_tool
from langchain_tests.integration_tests import RetrieversIntegrationTests
from pydantic import ValidationError

import pgrag
from pgrag.integrations.langchain import PgragRetriever

QUERY = "restore a backup"


class TestStandard(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def _database(self, url):
        self._url = url

    @property
    def retriever_constructor(self):
        return PgragRetriever

    @property
    def retriever_constructor_params(self):
        return {"url": self._url, "library": "kestrel"}

    @property
    def retriever_query_example(self):
        return QUERY


class TestStandardOverAService(TestStandard):
    @pytest.fixture(autouse=True)
    def _service(self, service):
        self._url, self._key = service

    @property
    def retriever_constructor_params(self):
        return {"url": self._url, "key": self._key, "library": "kestrel"}


@pytest.fixture
def retriever(url):
    retriever = PgragRetriever(url=url, library="kestrel", k=3)
    yield retriever
    retriever.close()


def test_documents_have_the_numbers_and_places_of_the_hits(retriever, url):
    with pgrag.connect(url) as db:
        hits = db.search(QUERY, "kestrel", top_k=3).hits
    documents = retriever.invoke(QUERY)
    assert [document.id for document in documents] == [str(hit.document_id) for hit in hits]
    for document, hit in zip(documents, hits, strict=True):
        metadata = document.metadata
        assert document.page_content == hit.content
        assert metadata["url"] == f"{hit.url}#{hit.anchor}"
        assert metadata["heading_path"] == list(hit.path)
        for name in (
            "score",
            "confidence",
            "semantic_score",
            "version",
            "version_reason",
            "page_id",
        ):
            assert metadata[name] == getattr(hit, name)


def test_a_call_may_ask_for_something_else(retriever, url):
    assert {each.metadata["version"] for each in retriever.invoke(QUERY, version="1.4")} == {"1.4"}
    references = retriever.invoke("folder", filters={"type": "reference"}, k=10)
    assert {each.metadata["key"] for each in references} == {"reference/commands.md"}
    confident = retriever.invoke(QUERY, min_confidence=0.9)
    assert 0 < len(confident) < 3
    assert all(each.metadata["confidence"] >= 0.9 for each in confident)
    given = PgragRetriever(url=url, library="kestrel", search_kwargs={"top_k": 2, "levels": [0]})
    assert len(given.invoke(QUERY)) == 2
    assert len(given.invoke(QUERY, k=1)) == 1
    assert len(given.invoke(QUERY, filters={})) == 2
    given.close()
    explained = retriever.invoke(QUERY, explain=True)
    assert explained[0].metadata["explanation"]


def test_with_a_token_budget_the_documents_joined_are_a_context(retriever, url):
    with pgrag.connect(url) as db:
        context = db.context(QUERY, "kestrel", token_budget=300)
    retriever = PgragRetriever(url=url, library="kestrel", token_budget=300)
    documents = retriever.invoke(QUERY)
    assert "\n\n".join(each.page_content for each in documents) == context.text
    assert sum(each.metadata["tokens"] for each in documents) == context.tokens <= 300
    retriever.close()


def test_copies_threads_and_tasks_share_nothing_but_the_settings(retriever):
    expected = retriever.invoke(QUERY)
    copies = [pickle.loads(pickle.dumps(retriever)), copy.deepcopy(retriever)]
    assert [each.invoke(QUERY) for each in copies] == [expected, expected]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(retriever.invoke, [QUERY] * 8)) == [expected] * 8

    async def many():
        return await asyncio.gather(*(retriever.ainvoke(QUERY) for _ in range(8)))

    assert asyncio.run(many()) == [expected] * 8
    retriever.close()
    assert retriever.invoke(QUERY) == expected
    for each in copies:
        each.close()


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_process_that_is_forked_opens_its_own_connections(retriever):
    """As servers do that load an application once and fork their workers."""
    expected = retriever.invoke(QUERY)
    forked = multiprocessing.get_context("fork")
    answers = forked.SimpleQueue()

    def work():
        answers.put(retriever.invoke(QUERY))
        retriever.close()

    workers = [forked.Process(target=work), forked.Process(target=retriever.close)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not answers.empty()
    assert answers.get() == expected == retriever.invoke(QUERY)


def test_as_a_tool_of_an_agent(retriever):
    tool = create_retriever_tool(retriever, "kestrel", "Search the handbook of kestrel.")
    assert "beside the present ones" in tool.invoke({"query": "restore a folder"})


def test_what_is_wrong_is_told_in_pgrags_words(retriever, service, url):
    with pytest.raises(pgrag.UnknownLibrary, match="Did you mean kestrel"):
        retriever.invoke(QUERY, library="kestral")
    with pytest.raises(pgrag.InvalidInput, match="search has no argument libary"):
        retriever.invoke(QUERY, libary="kestrel")
    with pytest.raises(ValidationError, match="libary"):
        PgragRetriever(libary="kestrel")
    with pytest.raises(pgrag.InvalidInput, match="A key is for a service"):
        PgragRetriever(url=url, key="pgrag_sk_1").invoke(QUERY)
    over_rest = PgragRetriever(url=service[0], key=service[1], library="kestral")
    with pytest.raises(pgrag.UnknownLibrary, match="Did you mean kestrel"):
        over_rest.invoke(QUERY)
    with pytest.raises(pgrag.InvalidFilter, match="typ"):
        over_rest.invoke(QUERY, library="kestrel", filters={"typ": "guide"})
    over_rest.close()


def test_secrets_are_not_shown(service):
    retriever = PgragRetriever(url="postgresql://ada:hidden@db/x", key="hidden")
    assert "hidden" not in repr(retriever) + str(retriever.model_dump())
    assert "hidden" not in repr(retriever._source)
