"""The search box of other sites, as small as it can be sent: its element, and its dialog.

The dialog is several modules, as people read them. They are sent as one file without comments and
blanks, their style sheet within: pages of others load it, so each kilobyte and each request is
theirs.
"""

import json
import re
from collections.abc import Mapping

FOLDER = "widget/"
ELEMENT = "widget.js"
DIALOG = "box.mjs"
TEXTS = ("texts.de.mjs", "texts.en.mjs")

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([\w.]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=async|class|const|function)", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*(?://.*|/\*(?s:.*?)\*/[ \t]*)\n", re.MULTILINE)
_BLANK = re.compile(r"^[ \t]+|\n(?=\n)", re.MULTILINE)
# A text in quotes, or a sign of the language with the blanks around it. No regular expression of
# these scripts holds a quotation mark.
_SIGN = re.compile(
    r"""("(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`)|[ \t]*([{}()\[\]=;,:?<>&|!*])[ \t]*"""
)
_STYLE = re.compile(r'"\{([\w.]+\.css)\}"')
_STYLE_SIGN = re.compile(r"\s*([{};,])\s*|(?<=[\w-]):\s+")


def without_comments(text: str) -> str:
    """A script or a style sheet without whole lines of comment."""
    return _COMMENT.sub("", text)


def element(files: Mapping[str, str], address: str) -> str:
    """The script of the element; `address` is the folder of all files of the page."""
    return _lean(files[ELEMENT], files).replace("{files}", address)


def modules(files: Mapping[str, str]) -> dict[str, str]:
    """The modules that the element loads: the dialog, and its words by language."""
    return {DIALOG: _joined(files), **{name: _lean(files[name], files) for name in TEXTS}}


def _joined(files: Mapping[str, str]) -> str:
    """The dialog with all that it imports, each module once, after those that it imports.

    Their names share one scope: a name is declared in one module only.
    """
    done: dict[str, str] = {}

    def add(name: str) -> None:
        done[name] = ""
        for needed in _IMPORT.findall(files[name]):
            if needed not in done:
                add(needed)
        # In the order of completion.
        del done[name]
        done[name] = _IMPORT.sub("", files[name])

    add(DIALOG)
    parts = [text if each == DIALOG else _EXPORT.sub("", text) for each, text in done.items()]
    return _lean("\n".join(parts), files)


def _lean(script: str, files: Mapping[str, str]) -> str:
    """A script without comments and blanks that mean nothing, and with its style sheet."""
    short = _BLANK.sub("", without_comments(script))
    short = _SIGN.sub(lambda found: found[1] or found[2], short)
    return _STYLE.sub(lambda found: json.dumps(_lean_style(files[found[1]])), short)


def _lean_style(style: str) -> str:
    return _STYLE_SIGN.sub(lambda found: found[1] or ":", without_comments(style)).strip()
