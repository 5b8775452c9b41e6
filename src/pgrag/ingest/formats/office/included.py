"""Pages that a document of Word includes as they are (`altChunk`): HTML, web archives."""

import email
from email import policy

from pgrag.ingest.formats.html.page import convert as convert_html
from pgrag.ingest.values import NOWHERE


def included_html(content: bytes) -> str:
    """Return HTML, or that of a web archive (MHT), as Markdown; "" if there is none."""
    if b"mime-version" in content[:2_000].lower():
        message = email.message_from_bytes(content, policy=policy.default)
        page = message.get_body(("html",))
        content = page.get_content().encode() if page is not None else b""
    markdown = convert_html("", content, NOWHERE).markdown if content.strip() else ""
    return (
        markdown.split("---\n\n", 1)[-1].strip() if markdown.startswith("---") else markdown.strip()
    )
