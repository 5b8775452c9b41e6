"""Folders of pages, and what a source reads of them."""

from pathlib import Path

from pgrag.ingest.source.sources import discover


def write(root: Path, *files: str | dict[str, str]) -> None:
    """Write files: those of a dictionary, and names, each with a heading that repeats it."""
    for each in files:
        for name, text in (each if isinstance(each, dict) else {each: f"# {each}\n"}).items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, "utf-8")


def keys(source: Path, **options: object) -> list[str]:
    return list(contents(source, **options))


def contents(source: Path | str, **options: object) -> dict[str, bytes]:
    with discover(str(source), **options) as pages:  # type: ignore[arg-type]
        return {file.key: file.read(1_000_000) for file in pages.files()}
