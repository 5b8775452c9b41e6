"""What a reader sees of a document, told from its source alone, to count what a reading loses."""

import re

from pgrag.ingest.formats.rst.directives import UNSEEN

_EXPLICIT = re.compile(r"( *)\.\.(?:\s|$)")
_DIRECTIVE = re.compile(r" *\.\. +(?:\|[^|]*\| +)?([\w:.+-]+)::(.*)")
_OPTION = re.compile(r" +:[\w-]+:(?: .*)?")
_HIDDEN = re.compile(r":[A-Za-z][\w:.+-]*:(?=`)|<[^<>`]*>`|\|")
#: The rest of the block says nothing to a reader.
_WHOLE = UNSEEN | {"raw", "only", "ifconfig", "toctree", "include", "highlight", "program"}


def shown_text(text: str) -> str:
    """Return the words of a source without comments, names of directives, options and targets."""
    kept: list[str] = []
    hidden = -1  # the indent of a block that is not shown
    in_options = False
    for line in text.expandtabs(8).split("\n"):
        indent = len(line) - len(line.lstrip())
        if hidden >= 0 and (not line.strip() or indent > hidden):
            continue
        hidden = -1
        if in_options and _OPTION.fullmatch(line):
            continue
        in_options = False
        if match := _DIRECTIVE.match(line):
            in_options = True
            name = match[1].lower()
            if name in _WHOLE or name.endswith("module"):
                hidden = indent
            elif name not in ("code-block", "sourcecode", "code"):
                kept.append(match[2])
        elif (comment := _EXPLICIT.match(line)) and not line[indent:].startswith((".. [", ".. |")):
            hidden = len(comment[1])
        else:
            kept.append(line)
    return _HIDDEN.sub(" ", "\n".join(kept))
