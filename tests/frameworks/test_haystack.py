"""The component for Haystack, in pipelines that are saved and loaded."""

import asyncio

import pytest
from haystack import Pipeline
from haystack.components.joiners import DocumentJoiner
from haystack.core.errors import PipelineRuntimeError
from haystack.utils import Secret

import pgrag
from pgrag.integrations.haystack import PgragRetriever

QUERY = "restore a backup"


def documents(retriever, **inputs):
    return retriever.run(QUERY, **inputs)["documents"]


def test_a_pipeline_is_saved_loaded_and_run_in_both_ways(url, service, monkeypatch):
    monkeypatch.setenv("DATABASE_OF_DOCS", url)
    monkeypatch.setenv("KEY_OF_DOCS", service[1])
    pipeline = Pipeline()
    own = PgragRetriever(
        "kestrel", url=Secret.from_env_var("DATABASE_OF_DOCS"), version="2.0", top_k=2,
        filters={"type": "guide", "not": {"key": "a.b"}}, search_kwargs={"alpha": 0.4, "top_k": 7},
    )  # fmt: skip
    remote = PgragRetriever(
        "kestrel", url=service[0], key=Secret.from_env_var("KEY_OF_DOCS"), token_budget=200
    )
    pipeline.add_component("own", own)
    pipeline.add_component("remote", remote)
    pipeline.add_component("joined", DocumentJoiner())
    pipeline.connect("own.documents", "joined.documents")
    pipeline.connect("remote.documents", "joined.documents")
    text = pipeline.dumps()
    assert "pgrag_sk" not in text
    again = Pipeline.loads(text)
    assert again.to_dict() == pipeline.to_dict()

    inputs = {"own": {"query": QUERY}, "remote": {"query": QUERY}}
    first = pipeline.run(inputs)["joined"]["documents"]
    assert len(documents(own)) == 2
    assert len(documents(PgragRetriever("kestrel", url=url, search_kwargs={"top_k": 1}))) == 1
    assert all(each.score is not None and each.meta["confidence"] for each in first)
    assert again.run(inputs)["joined"]["documents"] == first
    ran = asyncio.run(again.run_async(inputs))
    assert {each.id for each in ran["joined"]["documents"]} == {each.id for each in first}
    for each in (own, remote, again.get_component("own"), again.get_component("remote")):
        each.close()


def test_a_filter_by_type_is_no_class_to_load():
    saved = PgragRetriever(filters={"type": "api.reference"}).to_dict()
    assert PgragRetriever.from_dict(saved).to_dict() == saved


def test_filters_of_haystack_mean_the_same(url):
    retriever = PgragRetriever("kestrel", url=url, top_k=20)

    def keys(filters):
        return {each.meta["key"] for each in documents(retriever, filters=filters)}

    def of(field, operator, value):
        return {"field": field, "operator": operator, "value": value}

    every = keys(None)
    guides = keys({"type": "guide"})
    assert set() < guides < every
    assert keys(of("meta.type", "==", "guide")) == guides
    assert keys(of("type", "in", ["guide"])) == guides
    assert keys(of("meta.type", "!=", "guide")) == every - guides
    assert keys(of("meta.type", "not in", ["guide"])) == every - guides
    both = [of("meta.type", "==", "guide"), of("meta.key", "==", "guide/restore.md")]
    assert keys({"operator": "AND", "conditions": both}) == {"guide/restore.md"}
    assert keys({"operator": "OR", "conditions": both}) == guides
    assert keys({"operator": "NOT", "conditions": both}) == every - {"guide/restore.md"}
    with pytest.raises(pgrag.InvalidFilter, match=r"no filter of Haystack.*XOR"):
        keys({"operator": "XOR", "conditions": both})
    retriever.close()


def test_what_is_wrong_is_told_before_the_first_run_and_shows_no_secret(url):
    with pytest.raises(pgrag.ServiceUnavailable, match="does not answer"):
        PgragRetriever(url="http://127.0.0.1:9").warm_up()
    with pytest.raises(pgrag.SettingsError, match="has a password"):
        PgragRetriever(url="postgresql://ada:hidden@db/docs").to_dict()
    with pytest.raises(pgrag.SettingsError, match="key of PgragRetriever is a text"):
        PgragRetriever(url="http://127.0.0.1:9", key="pgrag_hidden").to_dict()
    pipeline = Pipeline()
    pipeline.add_component("retriever", PgragRetriever("kestral", url=url))
    with pytest.raises(PipelineRuntimeError, match="Did you mean kestrel"):
        pipeline.run({"retriever": {"query": QUERY}})
    pipeline.get_component("retriever").close()
