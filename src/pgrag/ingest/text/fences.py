"""Fenced code of Markdown, line by line, also in quotations and lists."""

import re

_FENCE = re.compile(
    r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?P<fence>`{3,}|~{3,})(?P<info>.*)", re.DOTALL
)


def fence_after(line: str, fence: str) -> str:
    """The fence of the code that is open after a line, `fence` before it; empty outside of code."""
    match = _FENCE.match(line)
    if fence:
        is_end = match and match["fence"].startswith(fence) and not match["info"].strip()
        return "" if is_end else fence
    is_span = match and match["fence"][0] == "`" and "`" in match["info"]
    return match["fence"] if match and not is_span else ""
