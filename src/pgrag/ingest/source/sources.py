"""Open a source by the look of its name."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from pgrag.ground.errors import SourceError
from pgrag.ground.settings import masked_url
from pgrag.ingest.source.git import tags_of
from pgrag.ingest.source.local import open_commit, open_fetched, open_file, open_folder
from pgrag.ingest.source.repository import Address, Network, Repository, repository_at
from pgrag.ingest.source.selection import Selection, key_of
from pgrag.ingest.source.source import Source
from pgrag.ingest.source.trees import Versions, find_versions

#: What stands before the version in a tag: v1.2, release-1.2, jest@1.2, package/v1.2.
_BEFORE_VERSION = re.compile(r"(?:.*[/@])?[A-Za-z_.-]*(?=\d)")


def discover(
    source: str,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    subfolder: str | None = None,
    ref: str | None = None,
    include_ignored: bool = False,
    versions: str | None = None,
    version: str = "",
    network: Network | None = None,
) -> Source:
    """List the documentation in a folder, an archive or a repository, or take a single file, as
    `include` and `exclude` (globs over keys) say, below `subfolder`. With `ref` the files are those
    of that commit; a repository at an address is read through `network`. With `versions` they are
    those of the `version` that has a folder in it (see `trees`). Hidden folders,
    `node_modules`, links that leave the folder and, unless `include_ignored`, ignored files are
    skipped. Raises SourceError.
    """
    selection = Selection(tuple(include), tuple(exclude), subfolder, ref, include_ignored, versions)
    if versions:
        return discover_versions(source, selection, network).version(
            version, selection, is_last=True
        )
    return _opened(source, selection, network)


def discover_versions(
    source: str, selection: Selection, network: Network | None = None
) -> Versions:
    """Return the versions that lie side by side in a source. Raises SourceError if none do."""
    # Globs are over the keys of a version; here they only say which kinds of files are read.
    include = (*selection.include, "**") if selection.include else ()
    whole = _opened(source, replace(selection, include=include, exclude=()), network)
    found = find_versions(whole)
    if found is None:
        whole.close()
        raise SourceError(
            f"{whole.location}: no versions lie side by side in it.",
            hint="Looked for versioned_docs of Docusaurus, antora.yml, versions.json of mike, and"
            " folders such as 1.0, v2.x, latest. Tags of a repository: --tags.",
        )
    return found


def _opened(source: str, selection: Selection, network: Network | None) -> Source:
    ref = selection.ref
    if address := repository_at(source, is_named=ref is not None):
        repository = _repository(address, network)
        [commit] = repository.fetch([ref])
        return open_fetched(_without_login(source, address), repository, commit, ref, selection)
    if source.startswith("file://") and not (network and network.uses_credentials):
        # What a service may read is decided by the path.
        raise SourceError(f"{source}: a service reads no such address.", hint="Use its path.")
    root = _existing(source)
    if ref is not None:
        return open_commit(root, ref, selection)
    if root.is_dir():
        is_confined = network is not None and not network.uses_credentials
        return open_folder(root, selection, is_confined=is_confined)
    return open_file(root, selection)


Kind = Literal["a website", "a repository at an address", "a path"]


def kind_of(source: str, ref: str | None = None) -> Kind:
    """Return the kind of a source; a website, a sitemap or an llms.txt is crawled."""
    if repository_at(source, is_named=ref is not None) is not None:
        return "a repository at an address"
    return "a website" if source.lower().startswith(("http://", "https://")) else "a path"


def discover_tags(
    source: str, pattern: str, selection: Selection, network: Network | None = None
) -> list[tuple[str, Callable[[], Source]]]:
    """Return a version label and how to open it for each tag that matches a glob, sorted by number.
    Raises SourceError if no tag matches.
    """
    address = repository_at(source, is_named=True)
    repository = _repository(address, network) if address else None
    root = Path() if repository else _existing(source)
    tags = repository.tags() if repository else tags_of(root)
    wanted = sorted((tag for tag in tags if fnmatchcase(tag, pattern)), key=_numbers)
    if not wanted:
        shown = ", ".join(sorted(tags, key=_numbers)[-5:]) or "none"
        raise SourceError(
            f"{named_source(source)}: no tag matches {pattern!r}.", hint=f"Its last tags: {shown}."
        )
    labels = {label_of(tag): tag for tag in wanted}
    if repository is None or address is None:
        return [
            (label, partial(open_commit, root, tag, replace(selection, ref=tag)))
            for label, tag in labels.items()
        ]
    name = _without_login(source, address)
    commits = dict(zip(wanted, repository.fetch(wanted), strict=True))
    return [
        (label, partial(open_fetched, name, repository, commits[tag], tag, selection))
        for label, tag in labels.items()
    ]


def label_of(tag: str) -> str:
    """Return the version label of a tag: what begins with its number, else all of it."""
    found = _BEFORE_VERSION.match(tag)
    return key_of(tag[found.end() :] if found else tag)


def _repository(address: Address, network: Network | None) -> Repository:
    if network is None:
        raise SourceError(f"{address.url}: nothing is fetched here.", hint="Clone it first.")
    return Repository(address, network)


def _without_login(source: str, address: Address) -> str:
    """Return the address as it is remembered: named as a repository, and without a password."""
    return f"git+{address.url}" if source.startswith("git+") else address.url


def _numbers(tag: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", tag)]


def named_source(source: str) -> str:
    """Return how errors name a source, without the password of an address."""
    return masked_url(source) if ":/" in source else source


def _existing(source: str) -> Path:
    root = Path(unquote(urlsplit(source).path) if source.startswith("file://") else source)
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
            hint="A source is a folder, a file, an archive, or the path or address of a git"
            " repository.",
        )
    return root
