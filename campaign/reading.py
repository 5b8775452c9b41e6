"""The work of the child process of `campaign.pages`, which imports functions by name."""

import json
import traceback
from pathlib import Path
from time import process_time

from pgrag.ground.errors import SourceError
from pgrag.ingest.page import PageOptions, read_page
from pgrag.ingest.writer import page_document


def read_measured(key: str, data: bytes, options: PageOptions) -> tuple[str, float, str]:
    """Read a page in this process: the fault, if any, the seconds, and the page as JSON."""
    started = process_time()
    try:
        page = read_page(key, data, options)
    except SourceError:
        return "", process_time() - started, ""
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        file = Path(frame.filename).name
        return f"{type(error).__name__} at {file}:{frame.lineno}: {error}", 0.0, ""
    seconds = process_time() - started
    try:
        document = json.dumps(page_document(page), allow_nan=False)
    except ValueError as error:
        return f"no JSON: {error}", seconds, ""
    lines = data.count(b"\n") + data.count(b"\r") + 1
    for chunk in page.chunks:
        if not 1 <= chunk.line_start <= chunk.line_end <= lines:
            return f"lines {chunk.line_start} to {chunk.line_end} of {lines}", seconds, ""
    return "", seconds, document
