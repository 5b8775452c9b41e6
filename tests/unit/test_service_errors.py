"""What a client of a service tells of its answers, and retrievers without their framework."""

import importlib
import sys

import httpx
import pytest

import pgrag
from pgrag.api import admission, problems
from pgrag.client.remote import _error


def told(status, document):
    return _error(httpx.Response(status), document, "http://docs.example/v1")


def test_every_problem_of_a_service_becomes_the_error_that_it_was():
    for kind, problem in problems.KINDS.items():
        document = {"type": problem.type, "detail": "What was wrong.", "hint": "The way out."}
        error = told(problem.status, document)
        assert type(error) is kind
        assert str(error) == "What was wrong. The way out."
    refused = [admission.KEY_REQUIRED, admission.INVALID_KEY, problems.FORBIDDEN]
    for problem in refused:
        assert isinstance(told(problem.status, {"type": problem.type}), pgrag.NotPermitted)
    for problem in (problems.TOO_MANY, problems.STOPPING):
        assert isinstance(told(problem.status, {"type": problem.type}), pgrag.Busy)
    invalid = problems.INVALID_REQUEST
    assert isinstance(told(invalid.status, {"type": invalid.type}), pgrag.InvalidInput)


def test_what_is_no_service_of_pgrag_is_told():
    error = told(404, {})
    assert isinstance(error, pgrag.ServiceUnavailable)
    assert "answered with status 404" in error.message
    assert "http://127.0.0.1:8000" in error.hint


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: pgrag.connect("http://docs.example"), "Use pgrag.connect_service"),
        (lambda: pgrag.connect("localhost:5432"), "must be like postgresql://.*not 'localhost"),
        (lambda: pgrag.connect(""), "must be like postgresql://"),
        (lambda: pgrag.connect_service("127.0.0.1:8000"), "must be like http://.*not '127"),
        (lambda: pgrag.connect_service("https://[::bad"), "must be like http://"),
        (lambda: pgrag.connect_service("http://a", "ключ"), "no header can carry"),
        (lambda: pgrag.connect_service("http://a", 7), "key must be a text"),
    ],
)
def test_addresses_and_keys_that_cannot_be_used(call, says):
    with pytest.raises(pgrag.InvalidInput, match=says):
        call()


def test_no_error_shows_a_password():
    for connect in (pgrag.connect, pgrag.connect_service):
        with pytest.raises(pgrag.InvalidInput) as error:
            connect("ftp://ada:hidden@host/x")
        assert "hidden" not in str(error.value)


@pytest.mark.parametrize(
    ("module", "needs"),
    [("langchain", "langchain_core"), ("llamaindex", "llama_index"), ("haystack", "haystack")],
)
def test_a_retriever_without_its_framework_names_the_extra(module, needs, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == needs]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, needs, None)
    monkeypatch.delitem(sys.modules, f"pgrag.integrations.{module}", raising=False)
    with pytest.raises(ModuleNotFoundError, match=rf"pip install 'pgrag-search\[{module}\]'"):
        importlib.import_module(f"pgrag.integrations.{module}")
