"""Resources, their completion, and prompts."""

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError
from mcp_client import connected

from pgrag.mcp.resources import page_uri


@pytest.fixture(scope="module", params=["legacy", "auto"])
def mcp(harbour_url, request):
    with connected(harbour_url, mode=request.param) as client:
        yield client


def read(mcp, uri: str) -> str:
    [content] = mcp.portal.call(mcp.client.read_resource, uri).contents
    assert (content.mime_type, content.uri) == ("text/markdown", uri)
    return content.text


def refused(mcp, uri: str) -> str:
    with pytest.raises(MCPError) as raised:
        mcp.portal.call(mcp.client.read_resource, uri)
    assert raised.value.error.data == {"uri": uri}
    return str(raised.value)


def test_from_the_libraries_to_a_page_by_links_or_by_a_wish(mcp):
    def linked(text: str, title: str) -> str:
        [line] = [line for line in text.splitlines() if f"[{title}](" in line]
        return line.partition("](")[2].partition(")")[0]

    assert [resource.uri for resource in mcp.portal.call(mcp.client.list_resources).resources] == [
        "pgrag://libraries", "pgrag://harbour/versions", "pgrag://port%2Fauthority/versions"
    ]  # fmt: skip
    libraries = read(mcp, "pgrag://libraries")
    versions = read(mcp, linked(libraries, "harbour"))
    assert versions.index("[2.1]") < versions.index("[1.0]")
    page = linked(read(mcp, linked(versions, "2.1")), "Reading the tide table")
    assert page == "pgrag://harbour/2.1/pages/navigation/tides.md"
    text = read(mcp, page)
    assert text.startswith("Source: https://harbour.example/navigation/tides (harbour 2.1)")
    assert "## Spring tides" in text
    german = read(mcp, linked(libraries, "port/authority"))
    german = read(mcp, linked(german, "-"))
    assert "Nachlass von zehn Prozent" in read(mcp, linked(german, "Hafengebühren"))
    for uri in (
        "pgrag://harbour/latest/pages/navigation/tides",
        "pgrag://Harbour/2.x/pages/navigation/tides.md",
    ):
        assert "Spring tides" in read(mcp, uri)
    assert page_uri("a/b", "", "x y/ü.md") == "pgrag://a%2Fb/-/pages/x%20y/%C3%BC.md"


@pytest.mark.parametrize(("uri", "said"), [
    ("pgrag://harbor/versions", "harbour"),
    ("pgrag://harbour/nightly/pages", "2.1"),
    ("pgrag://harbour/2.1/pages/tidez.md", "navigation/tides.md"),
    ("pgrag://harbour", "pgrag://libraries"),
    ("pgrag://harbour/2.1/pages/../../etc/passwd", "no page"),
    ("file:///etc/passwd", "pgrag://libraries"),
    ("pgrag://harbour/%00/pages", "pgrag://libraries"),
    ("", "pgrag://libraries"),
    ("pgrag://" + "x" * 100_000, "pgrag://libraries"),
])  # fmt: skip
def test_an_address_that_is_wrong_gets_the_way_out(mcp, uri, said):
    if uri:
        assert said in refused(mcp, uri)
    else:
        with pytest.raises(MCPError, match=said):
            mcp.portal.call(mcp.client.read_resource, uri)


def test_addresses_are_completed(mcp):
    [template] = [
        template
        for template in mcp.portal.call(mcp.client.list_resource_templates).resource_templates
        if template.name == "page"
    ]
    place = types.ResourceTemplateReference(uri=template.uri_template)

    def complete(name: str, typed: str, **known: str) -> list[str]:
        found = mcp.portal.call(mcp.client.complete, place, {"name": name, "value": typed}, known)
        return found.completion.values

    assert complete("library", "Ha") == ["harbour"]
    assert complete("version", "", library="harbour") == ["2.1", "1.0"]
    assert complete("version", "") == []
    assert complete("key", "nav", library="harbour", version="2.1") == [
        "navigation/index.md", "navigation/tides.md"
    ]  # fmt: skip
    assert complete("key", "", library="port/authority") == ["gebuehren.md", "prichaly.md"]
    assert complete("something", "x") == []
    with pytest.raises(MCPError, match="harbour"):
        complete("version", "", library="harbor")


def test_the_prompt_brings_numbered_sources(mcp):
    def prompt(**arguments: str) -> str:
        [message] = mcp.portal.call(mcp.client.get_prompt, "answer_from_docs", arguments).messages
        assert message.role == "user"
        return message.content.text

    [listed] = mcp.portal.call(mcp.client.list_prompts).prompts
    assert [(a.name, a.required) for a in listed.arguments] == [
        ("question", True), ("library", False), ("version", False)
    ]  # fmt: skip
    text = prompt(question="How deep is the sill?", library="harbour", version="")
    assert "harbour 2.1 (the newest release)" in text
    assert "[1] " in text
    assert "predicted height minus 1.8 metres" in text
    assert "https://harbour.example/navigation/tides" in text
    with pytest.raises(MCPError, match="question: it is required"):
        prompt(library="harbour")
    with pytest.raises(MCPError, match="harbour"):
        prompt(question="x", library="harbor")
    with pytest.raises(MCPError, match="answer_from_docs"):
        mcp.portal.call(mcp.client.get_prompt, "summarise", {})
