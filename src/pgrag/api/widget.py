"""The search box of other sites, as small as it can be sent: its element, and its dialog.

The dialog is several modules, as people read them. They are sent as one file without comments and
indentation: pages of others load it, so each kilobyte and each request is theirs.
"""

import re
from collections.abc import Mapping

ELEMENT = "widget/widget.js"
DIALOG = "widget/box.mjs"

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([\w.]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=async|class|const|function)", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*(?://.*|/\*(?s:.*?)\*/[ \t]*)\n", re.MULTILINE)
_BLANK = re.compile(r"^[ \t]+|\n(?=\n)", re.MULTILINE)


def without_comments(text: str) -> str:
    """A script or a style sheet without whole lines of comment."""
    return _COMMENT.sub("", text)


def lean(script: str) -> str:
    """A script without whole lines of comment, indentation and empty lines.

    No text of these scripts that spans lines gives these a meaning: they are style sheets.
    """
    return _BLANK.sub("", without_comments(script))


def joined(files: Mapping[str, str], name: str = DIALOG) -> str:
    """A module with all that it imports, each once, after what that imports itself.

    Their names share one scope: a name is declared in one module only.
    """
    folder = name.rpartition("/")[0]
    done: dict[str, str] = {}

    def add(each: str) -> None:
        text = files[f"{folder}/{each}"]
        done[each] = ""
        for needed in _IMPORT.findall(text):
            if needed not in done:
                add(needed)
        # In the order of completion, so that what is needed comes first.
        del done[each]
        done[each] = _IMPORT.sub("", text)

    first = name.rpartition("/")[2]
    add(first)
    parts = [text if each == first else _EXPORT.sub("", text) for each, text in done.items()]
    return lean("\n".join(parts))
