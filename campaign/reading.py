"""The work of the child process of `campaign.pages` and `files`, which imports it by name."""

import json
import re
import resource
import signal
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from time import process_time

from pgrag.ground.errors import SourceError
from pgrag.ingest.document import page_document
from pgrag.ingest.page import PageOptions, read_page
from pgrag.ingest.source.archive import Archive
from pgrag.ingest.source.web import lists
from pgrag.ingest.source.web.robots import Robots

_SITE = "https://x.org/"
#: Seconds of processor time after which the process ends.
MOST_SECONDS = 20.0
#: Addresses that rules are compared with.
_ASKED = [_SITE, f"{_SITE}a{'a' * 2000}", f"{_SITE}a/b/c.html?x=1", f"{_SITE}{'a/' * 500}"]


def read_measured(key: str, data: bytes, options: PageOptions) -> tuple[str, float, str]:
    """Read a page in this process: the fault, if any, the seconds, and the page as JSON."""
    started = process_time()
    try:
        page = read_page(key, data, options)
    except SourceError:
        return "", process_time() - started, ""
    except Exception as error:
        return _told(error), 0.0, ""
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


def read_weighed(suffix: str, data: bytes, is_damaged: bool) -> tuple[str, float, int]:
    """Read a file by its suffix: the fault, if any, the seconds of this process and those that it
    starts, and the bytes of memory that it took at most. What the library for a format finds wrong
    with a file is a fault only if the file `is_damaged` not.
    """
    read = _READERS.get(suffix, _read_as_page)
    before, started = _largest_memory(), _seconds()
    signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
    fault = ""
    try:
        read(f"file.{suffix}", data)
    except SourceError as error:
        is_unknown = "feature that cannot be read" in error.message
        fault = _told(error.__cause__) if error.__cause__ and is_unknown and not is_damaged else ""
    except Exception as error:
        fault = _told(error)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return fault, _seconds() - started, _largest_memory() - before


def _told(error: BaseException) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} at {Path(frame.filename).name}:{frame.lineno}: {error}"


def _seconds() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def _largest_memory() -> int:
    """The most bytes of memory since the last call; the system counts anew from each call."""
    status = Path("/proc/self/status").read_text()
    Path("/proc/self/clear_refs").write_text("5")
    found = re.search(r"VmHWM:\s+(\d+)", status)
    return 1024 * int(found[1]) if found else 0


def _read_as_page(key: str, data: bytes) -> None:
    read_page(key, data, PageOptions())


def _read_archive(_: str, data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "upload"
        path.write_bytes(data)
        archive = Archive(path, None, lambda _: True)
        for name in archive.names():
            archive.read(name)
        archive.close()


def _read_robots(_: str, data: bytes) -> None:
    robots = Robots.read(f"{_SITE}robots.txt", 200, data)
    for url in _ASKED:
        robots.allows(url)


_READERS: dict[str, Callable[[str, bytes], object]] = {
    "zip": _read_archive,
    "tar": _read_archive,
    "robots": _read_robots,
    "sitemap": lambda _, data: lists.parse_sitemap(f"{_SITE}sitemap.xml", data),
    "inv": lambda _, data: lists.parse_inventory(f"{_SITE}objects.inv", data),
    "versions": lambda _, data: lists.parse_versions(f"{_SITE}versions.json", data),
    "llms": lambda _, data: lists.split_full_text(_SITE, data.decode("utf-8", "replace")),
}
