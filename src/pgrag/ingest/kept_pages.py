"""Pages that were read for one version and can serve the next: tags differ in few files."""

import pickle
import tempfile
from typing import Self

from pgrag.ingest.document import PageDocument
from pgrag.ingest.page import PageOptions
from pgrag.ingest.source.source import SourceFile
from pgrag.ingest.values import Origin


class KeptPages:
    """The pages read by the runs of one command, in an unnamed file; a context manager."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the pages
        self._offsets: dict[tuple[str, str, Origin, PageOptions], int] = {}

    def find(self, file: SourceFile, digest: str, options: PageOptions) -> PageDocument | None:
        """Return the page of a file with these bytes, read with these options, or None."""
        offset = self._offsets.get((file.key, digest, file.origin, options))
        if offset is None:
            return None
        self._file.seek(offset)
        return pickle.load(self._file)  # type: ignore[no-any-return]

    def keep(self, file: SourceFile, digest: str, options: PageOptions, page: PageDocument) -> None:
        """Keep the page of a file."""
        self._offsets[file.key, digest, file.origin, options] = self._file.seek(0, 2)
        pickle.dump(page, self._file, pickle.HIGHEST_PROTOCOL)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
