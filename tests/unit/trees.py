"""Folders of pages, and what a source reads of them."""

from pgrag.ingest.source.sources import discover


def write(root, *files):
    """Write files: those of a dictionary, and names, each with a heading that repeats it."""
    for each in files:
        for name, text in (each if isinstance(each, dict) else {each: f"# {each}\n"}).items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, "utf-8")


def keys(source, **options):
    return list(contents(source, **options))


def contents(source, **options):
    with discover(str(source), **options) as pages:  # type: ignore[arg-type]
        return {file.key: file.read(1_000_000) for file in pages.files()}
