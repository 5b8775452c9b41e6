"""Texts of others on a terminal and in a log: what is invisible there is shown as an escape."""

import re

#: Control characters, directions of writing, tags, halves of characters, and blanks of no width. A
#: joiner or a soft hyphen is part of a word where letters stand on both sides, as in Persian, and a
#: variation selector where it follows the sign that it varies; everywhere else they hide something.
_HIDDEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200e\u200f"
    r"\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb"
    r"\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    r"|(?<![^\x00-\x7f\u200b-\u200d])[\u200b-\u200d]|[\u200b-\u200d](?![^\x00-\x7f\u200b-\u200d])"
    r"|(?<![^\W\d_])\xad|\xad(?![^\W\d_])"
    r"|(?<![^\x00-\x7f\ufe00-\ufe0f])(?<![0-9#*])[\ufe00-\ufe0f]"
)


def printable(text: str) -> str:
    r"""Return a text with the characters that a reader would not see as escapes: \x1b, \u202e. Tabs
    and ends of lines stay, and so do letters of all scripts, also from right to left.
    """
    return _HIDDEN.sub(_escape, text.replace("\r\n", "\n"))


def printable_json(text: str) -> str:
    """Return JSON with the same characters as escapes of JSON, which mean the same."""
    return _HIDDEN.sub(_escape_in_json, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _escape_in_json(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))
