"""Which sources other users may name; where addresses may lead, `pgrag.ground.outgoing` decides."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pgrag.ground.errors import InvalidInput
from pgrag.ingest.source.git import object_folders
from pgrag.ingest.source.sources import named_source

_SCHEMES = frozenset({"http", "https", "git+http", "git+https"})
#: A drive of Windows is not a scheme.
_ADDRESS = re.compile(r"(?P<scheme>[A-Za-z][\w+.-]+):|[\w.-]+@[\w.-]+:")


def require_allowed(roots: Sequence[Path], arguments: Mapping[str, Any]) -> None:
    """Raise InvalidInput for a source that may not be read for others, links resolved."""
    source = str(arguments["source"])
    if arguments.get("allow_private"):
        raise InvalidInput(
            "allow_private is for the operator alone.",
            hint="PGRAG_ALLOW_PRIVATE lets a worker read private addresses for everybody.",
        )
    if address := _ADDRESS.match(source):
        if (address["scheme"] or "").lower() not in _SCHEMES:
            raise InvalidInput(
                f"{named_source(source)} is not a source that others may name.",
                hint="Name an address that begins with https:// or http://.",
            )
        return
    if not roots:
        raise InvalidInput(
            "No folder of this server may be read for others.",
            hint="PGRAG_MCP_ROOTS names those that may.",
        )
    subfolder = (arguments.get("subfolder") or "").strip("/")
    # In a commit ".." may lead elsewhere than on disk, where a symbolic link may precede it.
    if ".." in Path(subfolder).parts or not _is_below(roots, source, subfolder):
        raise InvalidInput(
            f"{source}{'/' if subfolder else ''}{subfolder} is outside the folders that may be"
            " read for others.",
            hint=f"They are: {', '.join(map(str, roots))}.",
        )
    # What is not a folder is an error of the indexing itself.
    folder = Path(source).expanduser()
    reads_objects = arguments.get("ref") is not None or arguments.get("tags") is not None
    if reads_objects and folder.is_dir():
        for objects in object_folders(folder):
            if not _is_below(roots, str(objects), ""):
                raise InvalidInput(
                    f"The repository of {source} reads from {objects}, outside the folders that"
                    " may be read for others.",
                    hint=f"They are: {', '.join(map(str, roots))}.",
                )


def is_address(source: str) -> bool:
    """Whether a source is elsewhere, and not a path of this machine."""
    return _ADDRESS.match(source) is not None


def _is_below(roots: Sequence[Path], source: str, subfolder: str) -> bool:
    """Whether source and subfolder resolve to one of the folders; False if unresolvable."""
    try:
        folder = Path(source).expanduser()
        allowed = [root.resolve() for root in roots]
        return all(
            any(path.resolve().is_relative_to(root) for root in allowed)
            for path in (folder, folder / subfolder)
        )
    except (OSError, RuntimeError):
        return False
