"""What a page tells crawlers: its links, and how it may be used."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser

from pgrag.ingest.formats.decoding import decode
from pgrag.ingest.source.web.addresses import normalised
from pgrag.ingest.source.web.robots import AGENT
from pgrag.ingest.values import Origin

#: Links of a page that are followed; more are data.
MOST_LINKS = 5000

_MARKDOWN_LINK = re.compile(
    r"\]\(\s*<?([^\s()<>]+(?:\([^\s()]*\)[^\s()<>]*)*)|<(https?://[^\s<>]+)>"
)
_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_REFRESH = re.compile(r"""\s*(\d+)[\d.]*\s*[;,]\s*(?:url\s*=\s*)?["']?([^"']+)""", re.IGNORECASE)
#: A page without text that leads on sooner is a redirect.
_REDIRECT_SECONDS = 5
#: A page with fewer characters is made by its scripts, or stands for another one.
_LITTLE_TEXT = 200


@dataclass(frozen=True, slots=True)
class Signals:
    """What a page tells. `links` are absolute addresses, without those of rel=nofollow; empty if
    the page forbids to follow them. `markdown` is where the page is as Markdown. `needs_scripts`
    says that only a browser shows the page; `hash_routes` counts the links within such a page.
    `redirect` is where the page leads by itself. `version` is that of Docusaurus, "current" after
    the last release.
    """

    links: tuple[str, ...] = ()
    is_index_allowed: bool = True
    canonical: str | None = None
    markdown: str | None = None
    headings: tuple[tuple[str, str], ...] = ()
    title: str = ""
    needs_scripts: bool = False
    hash_routes: int = 0
    version: str = ""
    redirect: str | None = None


def read_signals(
    url: str,
    body: bytes,
    robots_tag: str = "",
    has_markdown: bool = False,
    media_type: str = "",
) -> Signals:
    """Read the signals of an HTML page; `robots_tag` is the X-Robots-Tag of its answer, and
    `media_type` has the encoding that it declares. With `has_markdown` the site may publish the
    page as Markdown: then its headings are read.
    """
    document = LexborHTMLParser(decode(url, body, Origin(media_type))[0])
    root = document.root
    if root is None:
        return Signals()
    rules = _robots(robots_tag)
    base = url
    links: dict[str, None] = {}
    told: dict[str, str] = {}
    canonical = markdown = None
    hash_routes = 0
    for node in document.css("base[href], meta[content], link[rel][href], a[href], area[href]"):
        attributes = node.attributes
        target = attributes.get("href") or ""
        if node.tag == "base":
            base = normalised(target, url) or url
        elif node.tag == "meta":
            name = (attributes.get("name") or attributes.get("http-equiv") or "").lower()
            content = attributes.get("content") or ""
            if name in ("robots", AGENT):
                rules |= _words(content)
            else:
                told.setdefault(name, content)
        elif node.tag == "link":
            relations = (attributes.get("rel") or "").lower().split()
            if "canonical" in relations:
                canonical = canonical or normalised(target, base)
            elif "alternate" in relations and "markdown" in (attributes.get("type") or "").lower():
                markdown = markdown or normalised(target, base)
            elif {"next", "prev"} & {*relations}:
                links[target] = None
        elif target.startswith(("#/", "#!/")):
            hash_routes += 1
        elif (
            "nofollow" not in (attributes.get("rel") or "").lower().split()
            and target
            and not target.startswith("#")
        ):
            links[target] = None
    has_script = document.css_first("script") is not None
    title = " ".join((document.css_first("title") or root).text().split())[:200]
    may_follow = not rules & {"nofollow", "none"}
    urls = _absolute(links if may_follow else (), base)
    headings = _headings(document) if markdown or has_markdown else ()
    has_little_text = _has_little_text(document)
    redirect = _redirect(told.get("refresh", ""), base)
    return Signals(
        links=urls,
        is_index_allowed=not rules & {"noindex", "none"},
        canonical=canonical,
        markdown=markdown,
        headings=headings,
        title=title,
        needs_scripts=len(urls) < 3 and has_script and has_little_text,
        hash_routes=hash_routes,
        version=told.get("docusaurus_version", ""),
        redirect=redirect if may_follow and has_little_text else None,
    )


def read_markdown_signals(url: str, body: bytes) -> Signals:
    """Read the links of a Markdown page, without those in fenced code."""
    text = _FENCE.sub("", body.decode("utf-8", "replace"))
    targets = (match[1] or match[2] for match in _MARKDOWN_LINK.finditer(text))
    return Signals(links=_absolute((each for each in targets if not each.startswith("#")), url))


def _absolute(targets: Iterable[str], base: str) -> tuple[str, ...]:
    urls: dict[str, None] = {}
    for target in targets:
        if (url := normalised(target, base)) is not None:
            urls[url] = None
        if len(urls) >= MOST_LINKS:
            break
    return tuple(urls)


def _robots(header: str) -> set[str]:
    rules: set[str] = set()
    agent = AGENT
    for part in header.lower().split(","):
        name, colon, words = part.rpartition(":")
        agent = name.strip() if colon else agent
        if agent == AGENT:
            rules |= _words(words)
    return rules


def _words(text: str) -> set[str]:
    return {word.strip() for word in text.lower().split(",")}


def _redirect(refresh: str, base: str) -> str | None:
    """Return where the refresh of a meta element leads, if it comes soon."""
    match = _REFRESH.match(refresh)
    if match is None or len(match[1]) > 3 or int(match[1]) > _REDIRECT_SECONDS:
        return None
    return normalised(match[2], base)


def _headings(document: LexborHTMLParser) -> tuple[tuple[str, str], ...]:
    headings = []
    for node in document.css("h1, h2, h3, h4, h5, h6"):
        own = node.attributes.get("id")
        parent = node.parent
        if not own and parent is not None and parent.tag in {"section", "div"}:
            own = parent.attributes.get("id")
        if own:
            headings.append((node.text(), own))
    return tuple(headings)


def _has_little_text(document: LexborHTMLParser) -> bool:
    for node in document.css("script, style, noscript, template, title"):
        node.decompose()
    root = document.root
    return root is None or len(" ".join(root.text().split())) < _LITTLE_TEXT
