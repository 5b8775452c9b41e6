"""Open a source by the look of its name."""

from collections.abc import Sequence
from pathlib import Path

from pgrag.errors import SourceError
from pgrag.ingest.source.local import open_commit, open_file, open_folder
from pgrag.ingest.source.selection import Selection
from pgrag.ingest.source.source import Source
from pgrag.settings import masked_url


def discover(
    source: str,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    subfolder: str | None = None,
    ref: str | None = None,
    include_ignored: bool = False,
) -> Source:
    """List the Markdown files (`.md`, `.markdown`, `.mdx`) of a folder, or take a single file.

    `include` and `exclude` are globs over keys (see `globs.matcher`). `subfolder` restricts the
    source to that folder, and keys are relative to it. With `ref` (a branch, tag or commit) the
    files are read from that commit of the git repository around the folder, whatever is checked
    out; nothing is fetched. Hidden folders and `node_modules` are skipped, and, unless
    `include_ignored`, what `.gitignore` and `.ignore` files name, those of the repository around
    the folder included; so are symbolic links that leave the folder, with a warning. No folder is
    visited twice.

    Raises SourceError if the source is missing, cannot be read, or contains no Markdown.
    """
    selection = Selection(tuple(include), tuple(exclude), subfolder, ref, include_ignored)
    root = _existing(source)
    if ref is not None:
        return open_commit(root, ref, selection)
    if root.is_dir():
        return open_folder(root, selection)
    return open_file(root, selection)


def named_source(source: str) -> str:
    """Return how errors name a source: it may be the address of a repository, with a password."""
    return masked_url(source) if ":/" in source else source


def _existing(source: str) -> Path:
    """Return a path on this machine. Raises SourceError if there is nothing."""
    root = Path(source)
    try:
        root = root.expanduser()
        is_there = root.exists()
    except OSError as error:
        raise SourceError(f"{source}: cannot be read: {error.strerror}.") from error
    except RuntimeError:  # "~name" of an unknown user
        is_there = False
    if not is_there:
        raise SourceError(
            f"{named_source(source)}: no such file or folder.",
            hint="A source is a folder with Markdown, a file, or a git repository on this machine.",
        )
    return root
