"""What a run indexes, and how."""

from dataclasses import dataclass, field

from pgrag.ingest.child import Limits
from pgrag.ingest.page import PageOptions


@dataclass(frozen=True, slots=True)
class IndexTarget:
    """The version that is indexed, and how its pages are read. With `in_child` all pages, else
    those in other formats than Markdown, are read in a child process. With `adds` pages that the
    source lacks are kept. A run waits `patience` seconds for the end of another.
    """

    library: str
    version: str = ""
    options: PageOptions = field(default_factory=PageOptions)
    embeds_edges: bool = False
    max_page_bytes: int | None = None
    in_child: bool = False
    limits: Limits = field(default_factory=Limits)
    adds: bool = False
    patience: float = 0.0

    @property
    def names(self) -> dict[str, str]:
        """Library and version, as the SQL functions take them."""
        return {"library": self.library, "version": self.version}
