"""How the page is delivered: what a browser asks for, keeps, and may do with it."""

import gzip
import hashlib
import re
import shutil
from importlib.resources import files
from pathlib import Path
from urllib.parse import urljoin

import pytest
from test_api_headers import assert_guarded, policy

from pgrag.api import site
from pgrag.api.site import Site

TYPES = {"mjs": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}


def links(text: str) -> list[str]:
    return re.findall(r'(?:src|href)="([^"]+)"', text)


def under(document: str, kind: str) -> list[str]:
    return [link for link in links(document) if link.endswith(f".{kind}")]


@pytest.mark.parametrize("view", site.VIEWS)
def test_every_view_is_the_same_document_without_anything_in_line(harbour, view):
    page = harbour.get(f"/{view}", q="tide")
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert_guarded(page.headers)
    assert page.text == harbour.get("/").text
    assert not re.search(r"\bon\w+=|<style|style=|javascript:|<script[^>]*>[^<]", page.text)
    allowed = policy(page)
    assert allowed["default-src"] == ["'none'"]
    assert allowed["script-src"] == allowed["style-src"] == allowed["connect-src"] == ["'self'"]
    assert allowed["require-trusted-types-for"] == ["'script'"]
    for link in links(page.text):
        # Relative, so that it also holds below the path of a proxy.
        assert not re.match(r"/|\w+:", link), link
        answer = harbour.get(urljoin(str(page.url), link))
        assert answer.status_code == 200, link
        ending = link.rpartition(".")[2]
        assert answer.headers["content-type"].startswith(TYPES.get(ending, "")), link


def test_files_are_kept_for_ever_and_the_document_is_asked_for_each_time(harbour):
    page = harbour.get("/")
    assert page.headers["cache-control"] == "no-cache"
    script, *_ = under(page.text, "mjs")
    answer = harbour.get(f"/{script}")
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    for address in ("/", f"/{script}"):
        tag = harbour.get(address).headers["etag"]
        known = {"If-None-Match": f'"other", {tag}'}
        unchanged = harbour.request("GET", address, headers=known)
        assert (unchanged.status_code, unchanged.content) == (304, b"")
        other = {"If-None-Match": '"other"'}
        assert harbour.request("GET", address, headers=other).status_code == 200


@pytest.mark.parametrize(
    ("accepted", "compressed"),
    [("gzip, deflate, br", True), ("gzip;q=0.5", True), ("br, GZIP", True), ("gzip;q=0", False),
     ("gzip; q=0.0, br", False), ("identity", False), ("", False)],
)  # fmt: skip
def test_files_are_compressed_for_those_who_take_it(harbour, accepted, compressed):
    script, *_ = under(harbour.get("/").text, "mjs")
    answer = harbour.request("GET", f"/{script}", headers={"Accept-Encoding": accepted})
    assert ("content-encoding" in answer.headers) is compressed
    assert answer.headers["vary"] == "Accept-Encoding"
    content = Site().files[script.split("/", 2)[2]].content
    assert answer.content == content
    sent = gzip.compress(content, mtime=0) if compressed else content
    assert answer.headers["content-length"] == str(len(sent))


def uncommented(source: str) -> str:
    lines, is_inside = [], False
    for line in source.split("\n"):
        if is_inside or line.lstrip().startswith("/*"):
            is_inside = "*/" not in line
        elif not line.lstrip().startswith("//"):
            lines.append(line)
    return "\n".join(lines)


def test_files_are_sent_without_comments_and_those_of_others_whole():
    folder = files("pgrag") / "web"
    for name, file in Site().files.items():
        source = (folder / name).read_bytes()
        if name.startswith("vendor/") or not name.endswith((".mjs", ".css")):
            assert file.content == source, name
        elif not name.startswith("widget/"):
            assert file.content.decode() == uncommented(source.decode()), name
            assert len(file.content) < len(source), name


def test_another_version_of_a_file_or_a_path_outside_is_missing(harbour):
    version = Site().version
    for path in (
        "/page/0123456789abcdef/main.mjs", f"/page/{version}/none.mjs", f"/page/{version}/",
        f"/page/{version}/index.html", f"/page/{version}/..%2F__init__.py",
        f"/page/{version}/%2Fetc/passwd", "/page/", "/page", "/askew", "/ask/",
    ):  # fmt: skip
        answer = harbour.get(path)
        assert answer.status_code == 404, path
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.headers["cache-control"] == "no-store"


def test_a_change_of_any_file_changes_the_address_of_all(tmp_path, monkeypatch):
    def versions(name: str, content: str) -> str:
        (tmp_path / "web" / "core").mkdir(parents=True, exist_ok=True)
        (tmp_path / "web" / name).write_text(content, "utf-8")
        return Site().version

    shutil.copytree(str(files("pgrag") / "web" / "widget"), tmp_path / "web" / "widget")
    monkeypatch.setattr(site, "files", lambda _: tmp_path)
    seen = {
        versions("index.html", "{files} <!-- modules -->"),
        versions("b.mjs", "export const b = 1;\n"),
        versions("core/a.mjs", 'export { b } from "../b.mjs";\nimport("./lazy.mjs");\n'),
        versions("main.mjs", 'import { a } from "./core/a.mjs";\n'),
        versions("core/lazy.mjs", "export const c = 1;\n"),
    }
    assert len(seen) == 5
    assert Site().version == Site().version
    # What is imported at once is asked for at once; what is loaded later is not.
    started = Site().start.content.decode()
    asked = re.findall(r'modulepreload" href="page/\w+/([^"]+)"', started)
    assert asked == ["main.mjs", "core/a.mjs", "b.mjs"]


def test_a_browser_can_add_the_search(harbour):
    answer = harbour.get("/opensearch.xml")
    assert answer.headers["content-type"].startswith("application/opensearchdescription+xml")
    assert 'template="http://api.example/?q={searchTerms}"' in answer.text


def test_libraries_are_those_that_were_taken_and_their_licences_are_beside_them():
    folder = files("pgrag") / "web" / "vendor"
    sums = dict(
        reversed(line.split("  ", 1)) for line in (folder / "SHA256SUMS").read_text().splitlines()
    )
    names = {entry.name for entry in folder.iterdir()}
    assert {name for name in names if name.endswith((".mjs", ".css"))} == sums.keys()
    for name, expected in sums.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == expected, name
    owners = {"hooks": "preact"}
    for name in sums:
        stem = name.partition(".")[0]
        assert f"{owners.get(stem, stem)}.LICENSE" in names


def test_scripts_are_short_and_ask_no_other_host():
    folder = Path(str(files("pgrag") / "web"))
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder).as_posix()
        if file.is_dir() or name.startswith("vendor/"):
            continue
        text = file.read_text("utf-8")
        lines = text.split("\n")
        assert len(lines) <= 251, name
        # The words of a language stand on one line each.
        if name.endswith((".mjs", ".css", ".js")) and "texts" not in name:
            assert max(map(len, lines)) <= 110, name
        # A namespace is no address; a model of the reader's own is.
        found = set(re.findall(r"https?://[\w.]+", text))
        found -= {"http://www.w3.org", "http://localhost"}
        assert not {address for address in found if "example" not in address}, name
