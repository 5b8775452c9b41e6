"""Addresses of websites: one spelling for each, scopes, versions, limits."""

import pytest

from pgrag.ingest.source.web.addresses import Scope, normalised, version_of
from pgrag.ingest.source.web.gate import Gate, Traps
from pgrag.ingest.source.web.lists import split_full_text


@pytest.mark.parametrize(("address", "spelling"), [
    ("/docs/%2e%2e/secret/x", "/secret/x"),
    ("/docs/.%2E/secret/x", "/secret/x"),
    ("https://docs.example/docs/../secret", "/secret"),
    ("/docs/a/%2e/b", "/docs/a/b"),
    ("/docs/a/%2e%2e", "/docs/"),
    ("/%2e%2e/%2e%2e/", "/"),
    ("/a%2fb/..c/d..", "/a%2Fb/..c/d.."),
    ("/docs//a", "/docs//a"),
    ("/docs/%2e%2e%2fsecret", None),
    ("/docs/a%2f%2e%2e%2fsecret", None),
    ("/docs/..%5csecret", None),
    ("/docs/..\\secret", None),
])  # fmt: skip
def test_an_address_has_no_dot_segments(address, spelling):
    found = normalised(address, "https://docs.example/docs/")
    assert found == (None if spelling is None else f"https://docs.example{spelling}")


@pytest.mark.parametrize(("host", "spelling"), [
    ("faß.example", "xn--fa-hia.example"),
    ("ｄocs。example", "docs.example"),
    ("docs.example.", "docs.example"),
    ("2130706433", "127.0.0.1"),
    ("[::FFFF:127.0.0.1]", "[::ffff:7f00:1]"),
    ("a%62.example", None),
    ("☃.example", None),
    ("a\u200db.example", None),
])  # fmt: skip
def test_a_host_has_one_spelling(host, spelling):
    assert normalised(f"https://{host}/") == (None if spelling is None else f"https://{spelling}/")


@pytest.mark.parametrize(("path", "folder", "version"), [
    ("/docs/4.2", "/docs/4.2/", "4.2"),
    ("/docs/4.2/", "/docs/4.2/", "4.2"),
    ("/docs/v1.0.rc1", "/docs/v1.0.rc1/", "1.0.rc1"),
    ("/docs/4.2/index.html", "/docs/4.2/", "4.2"),
    ("/docs/4.2/guide.PHP", "/docs/4.2/", "4.2"),
    ("/en/stable", "/en/stable/", "stable"),
    ("/guide", "/guide/", ""),
    ("/", "/", ""),
])  # fmt: skip
def test_the_scope_and_the_version_of_a_start(path, folder, version):
    address = f"https://docs.example{path}"
    assert Scope.around(address).prefix == f"https://docs.example{folder}"
    assert version_of(address) == version


def test_only_so_many_addresses_pass():
    gate = Gate(Scope.around("https://docs.example/"), Traps(3))
    urls = [f"https://docs.example/{name}" for name in "abcde"]
    assert gate.passed(urls) == urls[:3]
    assert gate.passed(urls) == urls[:3], "those that are known pass again"
    assert gate.refused == {"beyond 3 addresses": {*urls[3:]}}


@pytest.mark.parametrize(("text", "pages"), [
    ("No title, and no address.\n", {"/llms-full.txt": "No title, and no address.\n"}),
    (
        "Before.\n# A\nSource: /a\nSource: https://docs.example/a\n\nText.\n",
        {"/llms-full.txt": "Before.\n# A\nSource: /a\nSource: https://docs.example/a\n\nText.\n"},
    ),
    (
        "Before.\n# A\nSource: https://docs.example/a\n\nText.\n# Own\n",
        {"/llms-full.txt": "Before.\n", "/a": "# A\n\nText.\n# Own\n"},
    ),
    ("", {}),
])  # fmt: skip
def test_a_full_text_is_divided_at_its_addresses(text, pages):
    found = split_full_text("https://docs.example/llms-full.txt", text)
    assert found == {f"https://docs.example{path}": page for path, page in pages.items()}
