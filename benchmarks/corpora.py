"""The corpora and labelled sets below a folder, as folders or in archives."""

import tarfile
from dataclasses import dataclass, field
from pathlib import Path


class CorpusMissing(Exception):
    """The folder of the corpora lacks a corpus that a measure needs."""


@dataclass(frozen=True, slots=True)
class Corpora:
    """Corpora below `data`; archives are unpacked below `scratch`."""

    data: Path
    scratch: Path
    _opened: set[Path] = field(default_factory=set)

    def folder(self, name: str) -> Path:
        """The folder of a corpus or a labelled set. Raises `CorpusMissing`."""
        for parent in (self.data, self.scratch):
            if (parent / name).is_dir():
                return parent / name
        # Archives are named after a family: mdn.tar.xz contains mdn-en and mdn-anchor.
        for archive in sorted(self.data.glob("*.tar.*"), key=lambda path: len(path.name)):
            if name.startswith(archive.name.split(".")[0]) and archive not in self._opened:
                self._opened.add(archive)
                with tarfile.open(archive) as files:
                    # Python before 3.11.4 has no filters; later versions warn without one.
                    files.extraction_filter = getattr(tarfile, "data_filter", None)
                    files.extractall(self.scratch)
                return self.folder(name)
        raise CorpusMissing(f"{self.data} holds no {name}")

    def pages(self, name: str) -> Path:
        """The folder with the Markdown of a corpus."""
        return self.folder(name) / "files"

    def versions(self, name: str) -> dict[str, Path]:
        """The folders of a corpus with several versions, by label."""
        folders = sorted(path for path in self.pages(name).iterdir() if path.is_dir())
        return {folder.name.removeprefix("version-"): folder for folder in folders}
