"""The page at `/`: files of the package, the same for every caller.

All files lie below one address made of their hash, `page/HASH/…`, so that browsers keep them for
ever, and scripts find each other by relative addresses. Every address in them is relative: the page
works below any path of a proxy. The views are one document at several addresses, which the script
tells apart; their state is in the query of the address.
"""

import gzip
import hashlib
import mimetypes
import re
from functools import cached_property, lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from fastapi import APIRouter, Request, Response

from pgrag.api import widget
from pgrag.api.problems import HTTP_KINDS, problem

# Machines without these entries, or with others in their registry, would send scripts as text,
# which browsers refuse to run.
for _ending in (".mjs", ".js"):
    mimetypes.add_type("text/javascript", _ending)
mimetypes.add_type("text/css", ".css")

VIEWS = ("", "ask", "compare", "libraries", "operations", "sign-in")
"""The addresses of the page, below that of the service."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; manifest-src 'self'; frame-ancestors 'none'; base-uri 'none';"
    " form-action 'self'; require-trusted-types-for 'script'; trusted-types pgrag"
)
FILES = "/page/"
"""The path of all files."""

FOR_EVER = "public, max-age=31536000, immutable"
ASKED_EACH_TIME = "no-cache"

FOR_EVERY_SITE = {
    "Access-Control-Allow-Origin": "*",
    "Cross-Origin-Resource-Policy": "cross-origin",
}
"""Headers of the files that pages of other origins load: those of the search box."""

_COMPRESSED = re.compile(r"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))", re.IGNORECASE)
_IMPORT = re.compile(r"""^(?:import|export)\b[^"';(]*["'](\.[^"']+)["']""", re.MULTILINE)


class File:
    """A file of the page, whole and compressed."""

    def __init__(self, name: str, content: bytes) -> None:
        self.name = name
        self.content = content
        self.media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"

    @cached_property
    def compressed(self) -> bytes:
        """The content as gzip, the same for the same content."""
        return gzip.compress(self.content, mtime=0)

    @cached_property
    def tag(self) -> str:
        """The validator of the content."""
        return f'"{hashlib.sha256(self.content).hexdigest()[:32]}"'

    def answer(self, request: Request, caching: str, **headers: str) -> Response:
        """Answer with the file, compressed if the client takes that, or that it is unchanged."""
        headers |= {"Cache-Control": caching, "ETag": self.tag, "Vary": "Accept-Encoding"}
        if self.tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        if not _COMPRESSED.search(request.headers.get("accept-encoding", "")):
            return Response(self.content, media_type=self.media_type, headers=headers)
        headers["Content-Encoding"] = "gzip"
        return Response(self.compressed, media_type=self.media_type, headers=headers)


class Site:
    """The files of the page, read once, and the address that is made of them."""

    def __init__(self) -> None:
        folder = files("pgrag") / "web"
        self.files = {name: File(name, _sent(name, text)) for name, text in sorted(_read(folder))}
        digest = hashlib.sha256()
        for file in self.files.values():
            digest.update(f"{file.name}\0{len(file.content)}\0".encode() + file.content)
        self.version = digest.hexdigest()[:16]
        self.widget = self._widget()
        start = self.files.pop("index.html").content.decode()
        preloaded = "\n".join(
            f'<link rel="modulepreload" href="{{files}}/{name}">'
            for name in self.needed_by("main.mjs", "search/view.mjs")
        )
        start = start.replace("<!-- modules -->", preloaded)
        self.start = File("index.html", start.replace("{files}", f"page/{self.version}").encode())

    def _widget(self) -> File:
        """Make the files of the search box; returns that of its element."""
        texts = {
            name.removeprefix(widget.FOLDER): self.files.pop(name).content.decode()
            for name in list(self.files)
            if name.startswith(widget.FOLDER)
        }
        for name, text in widget.modules(texts).items():
            self.files[widget.FOLDER + name] = File(name, text.encode())
        element = widget.element(texts, f"page/{self.version}")
        return File(widget.ELEMENT, element.encode())

    def needed_by(self, *names: str) -> list[str]:
        """The scripts that these import, with themselves: a browser fetches all at once."""
        found: dict[str, None] = {}
        waiting = [name for name in names if name in self.files]
        while waiting:
            name = waiting.pop(0)
            if name not in found:
                found[name] = None
                text = self.files[name].content.decode()
                waiting += [_joined(name, address) for address in _IMPORT.findall(text)]
        return list(found)


def _sent(name: str, content: bytes) -> bytes:
    """What is sent of a file: comments are for people who read the source, a sixth of all. Those
    of other authors stay, with their licences.
    """
    if name.startswith("vendor/") or not name.endswith((".mjs", ".css")):
        return content
    return widget.without_comments(content.decode()).encode()


def _read(folder: Traversable, above: str = "") -> list[tuple[str, bytes]]:
    found = []
    for entry in folder.iterdir():
        if entry.is_dir():
            found += _read(entry, f"{above}{entry.name}/")
        else:
            found.append((above + entry.name, entry.read_bytes()))
    return found


def _joined(name: str, address: str) -> str:
    parts = name.split("/")[:-1]
    for part in address.split("/"):
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


@lru_cache(maxsize=1)
def site() -> Site:
    """The page of this package."""
    return Site()


router = APIRouter(include_in_schema=False)


def start(request: Request) -> Response:
    """Any view of the page."""
    return site().start.answer(request, ASKED_EACH_TIME, **{"Content-Security-Policy": POLICY})


for _view in VIEWS:
    router.add_api_route(f"/{_view}", start, name=f"page_{_view or 'search'}")


@router.get("/page/{version}/{name:path}")
def file(request: Request, version: str, name: str) -> Response:
    """A file of the page. Files of another version are gone: a page that lacks one loads anew."""
    found = site().files.get(name) if version == site().version else None
    if found is None:
        return problem(request, HTTP_KINDS[404], f"The page has no file {name!r} in this version.")
    shared = FOR_EVERY_SITE if name.startswith(widget.FOLDER) else {}
    return found.answer(request, FOR_EVER, **shared)


@router.get("/widget.js")
def element(request: Request) -> Response:
    """The search box for other sites, at an address that stays; see docs/widget.md."""
    return site().widget.answer(request, "public, max-age=600", **FOR_EVERY_SITE)


@router.get("/opensearch.xml")
def opensearch(request: Request) -> Response:
    """The description by which a browser searches here from its address bar.

    Its address is a whole one. The path of a proxy is in none that arrives here: the proxy says it.
    """
    below = request.headers.get("x-forwarded-prefix", "").strip("/")
    address = f"{request.base_url}{below}/" if below else str(request.base_url)
    # A host may hold what XML gives a meaning.
    base = re.sub(r"[^\w.:/\[\]-]", "", address)
    return Response(
        _OPENSEARCH.format(base=base),
        media_type="application/opensearchdescription+xml",
        headers={"Cache-Control": ASKED_EACH_TIME},
    )


_OPENSEARCH = """\
<?xml version="1.0" encoding="utf-8"?>
<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">
<ShortName>pgrag</ShortName>
<Description>Search the documentation</Description>
<InputEncoding>UTF-8</InputEncoding>
<Url type="text/html" template="{base}?q={{searchTerms}}"/>
</OpenSearchDescription>
"""
