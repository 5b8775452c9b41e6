"""The Markdown that a site publishes with a page."""

import re
from collections import defaultdict, deque
from collections.abc import Iterable

_HEADING = re.compile(r"^(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*$")
_FENCE = re.compile(r"^[ ]{0,3}(`{3,}|~{3,})")
_EXPLICIT = re.compile(r"\{#[^\s{}]+\}\s*$")
_LINK = re.compile(r"!?\[([^\]]*)\](?:\([^)]*\))?")
#: The share of its headings that must be the page's, or the Markdown is another text.
_SHARE = 0.5


def markdown_address(url: str) -> str:
    """Return where a page is as Markdown on sites with an llms.txt, as llmstxt.org proposes."""
    path, mark, query = url.partition("?")
    return f"{path}{'index.html' if path.endswith('/') else ''}.md{mark}{query}"


def with_ids(markdown: bytes, headings: Iterable[tuple[str, str]]) -> bytes | None:
    """Give the headings of a page's Markdown the ids that they have in the page. `headings` are
    (text, id) of the page. None if the Markdown is not text, or most of its headings are not the
    page's.
    """
    try:
        lines = markdown.decode("utf-8").splitlines()
    except UnicodeDecodeError:
        return None
    ids: defaultdict[str, deque[str]] = defaultdict(deque)
    for text, own in headings:
        ids[_plain(text)].append(own)
    fence, seen, known = "", 0, 0
    for number, line in enumerate(lines):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        heading = None if fence or mark else _HEADING.match(line)
        if heading is None or _EXPLICIT.search(line):
            continue
        seen += 1
        if candidates := ids.get(_plain(heading[2])):
            known += 1
            lines[number] = f"{heading[1]} {heading[2]} {{#{candidates.popleft()}}}"
    if seen and ids and known < _SHARE * seen:
        return None
    return ("\n".join(lines) + "\n").encode()


def _plain(text: str) -> str:
    return "".join(re.findall(r"\w+", _LINK.sub(r"\1", text).replace("_", "").casefold()))
