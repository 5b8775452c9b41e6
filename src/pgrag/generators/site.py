"""What the plugins share: the search box as HTML or as an address, and the index of a site."""

import glob
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from html import escape
from typing import Any
from urllib.parse import urlencode, urlsplit

import pgrag

#: The attributes of the search box that a site chooses; docs/widget.md explains them.
ATTRIBUTES = ("ask", "base", "hotkey", "in", "lang", "placeholder", "theme")


@dataclass(frozen=True, slots=True)
class Box:
    """The search box of a site: the service that answers, and the attributes of the element."""

    service: str
    attributes: Mapping[str, str]

    @classmethod
    def of(
        cls, service: str, library: str, version: str, key: str, chosen: Mapping[str, Any]
    ) -> "Box":
        """Check what a site's configuration says. Raises `pgrag.InvalidInput`."""
        if urlsplit(service).scheme not in {"http", "https"}:
            raise pgrag.InvalidInput(
                f"service is {service!r}, and no address.",
                hint="It is where `pgrag serve` can be reached: https://search.example",
            )
        if key and not key.startswith("pgrag_pk_"):
            raise pgrag.InvalidInput(
                "key is none that may stand in a page: publishable keys begin with pgrag_pk_.",
                hint=f"pgrag keys create docs-site --libraries {library} --origin ADDRESS",
            )
        for name in chosen:
            if name not in ATTRIBUTES:
                near = get_close_matches(name, ATTRIBUTES, n=1)
                known = f"Did you mean {near[0]!r}?" if near else f"It has {', '.join(ATTRIBUTES)}."
                raise pgrag.InvalidInput(f"box has no attribute {name!r}.", hint=known)
        given = {name: _text(value) for name, value in chosen.items() if value is not False}
        own = {"library": library, "key": key, "version": version}
        return cls(service.rstrip("/"), {name: own[name] for name in own if own[name]} | given)

    @property
    def script(self) -> str:
        """The address of the script."""
        return f"{self.service}/widget.js"

    @property
    def line(self) -> str:
        """The address of the script with the attributes: the script makes the element itself."""
        return f"{self.script}?{urlencode(self.attributes)}"

    @property
    def element(self) -> str:
        """The element, for a template."""
        attributes = (
            f'{name}="{escape(value)}"' for name, value in self.attributes.items() if name != "in"
        )
        return f"<pgrag-search {' '.join(attributes)}></pgrag-search>"


def index_site(
    library: str, version: str, folder: str, *, address: str | None, excluded: Iterable[str]
) -> pgrag.IndexReport:
    """Bring a version of a library to the state of a built site, without the excluded files.

    `address` is where the folder is served; hits lead there. Raises `pgrag.PgragError`.
    """
    with pgrag.connect() as db:
        return db.index(
            library,
            folder,
            version,
            base_url=address or None,
            # A name without a folder would be a pattern for every folder.
            exclude=[f"/{glob.escape(name)}" for name in sorted(excluded)],
            # What is built is usually ignored by git.
            include_ignored=True,
        )


def told(report: pgrag.IndexReport) -> str:
    """What an index run did, in one line."""
    name = f"{report.library} {report.version}".rstrip()
    return (
        f"pgrag: {name}: {report.written:,} pages written, {report.unchanged:,} unchanged,"
        f" {report.removed:,} removed"
    )


def explained(error: pgrag.PgragError) -> str:
    """An error as a line of a build."""
    return " ".join(filter(None, (f"pgrag: {error.message}", error.hint)))


def _text(value: Any) -> str:
    return "" if value is True or value is None else str(value)
