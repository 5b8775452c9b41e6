"""Dates in names of files: daily notes, posts of Jekyll and Hugo, minutes of meetings."""

import re
from datetime import date

from pgrag.ingest.matter.properties import FOLDER_PAGES

_DATE = r"(?P<year>(?:19|20)\d\d)(?P<sep>[-_.]?)(?P<month>\d\d)(?P=sep)(?P<day>\d\d)"
#: A time may follow: 2024-12-24T0930, 202412240930 (notes of a Zettelkasten).
_FIRST = re.compile(rf"{_DATE}(?P<rest>(?:T?\d{{4,6}})?(?:[-_. ]+|$))")
_WITHIN = re.compile(r"(?<!\d)(?P<year>(?:19|20)\d\d)-(?P<month>\d\d)-(?P<day>\d\d)(?!\d)")
#: 2024/12/24.md, 2024/12/24/title.md, 2024/2024-12/24.md
_FOLDERS = re.compile(
    r"(?:^|/)(?P<year>(?:19|20)\d\d)[/-](?P<month>\d\d)/(?P<day>\d\d)(?:/[^/]+|[-_. ][^/]*)?"
)


def date_in_name(key: str) -> str | None:
    """Return the day, in ISO 8601, that a key such as `2024-12-24 Eve.md` names; None if none."""
    stem = _stem(key)
    name = stem.rpartition("/")[2]
    found = _FIRST.match(name) or _WITHIN.search(name) or _FOLDERS.search(stem)
    if found is None or (found.re is _FOLDERS and found.end() != len(stem)):
        return None
    return _day(found)


def without_date(name: str) -> str:
    """Return a name without the day it begins with; one that is only a day stays as it is."""
    found = _FIRST.match(name)
    return (found and _day(found) and name[found.end() :]) or name


def _stem(key: str) -> str:
    """Return a key without its suffix; of the page of a folder the folder."""
    folder, _, name = key.rpartition("/")
    name = name.rpartition(".")[0] or name
    return folder if name.lower() in FOLDER_PAGES else f"{folder}/{name}".lstrip("/")


def _day(found: re.Match[str]) -> str | None:
    try:
        return date(int(found["year"]), int(found["month"]), int(found["day"])).isoformat()
    except ValueError:
        return None
