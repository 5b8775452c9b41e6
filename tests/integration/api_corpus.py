"""Libraries to ask for: a handbook in two releases, and one without versions in two languages."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from pgrag.ground.settings import Settings
from pgrag.service.app import App

HANDBOOK = {
    "index.md": """\
---
title: Harbour handbook
---
# Harbour handbook

Everything that a skipper has to know about our harbour, from the approach to the mooring fees.
""",
    "navigation/index.md": """\
---
title: Navigation
path: [Harbour handbook, Navigation]
---
# Navigation

How to come in and how to leave again, by day, by night and in fog. Keep a watch on channel 12.
""",
    "navigation/tides.md": """\
---
title: Reading the tide table
path: [Harbour handbook, Navigation, Reading the tide table]
type: guide
tags: [tides, safety]
date: 2025-03-01
uuid: 7d1c1a52-0f4c-4b7a-9f6e-2f6a0f9f4a11
link: https://intranet.example/tides
---
# Reading the tide table

The table lists high water and low water in local time. Add one hour in summer, when the clocks
have been put forward, and remember that the wind can hold the water back for half an hour.

## Depth over the sill

The depth over the sill is the predicted height minus 1.8 metres. Yachts with a deep keel wait for
half tide before they enter, and nobody passes the sill while the red light is shown above it.

## Spring tides

Two days after a full moon the range is largest. The lower pontoons then stand so high that carts
must be let down by rope, and the ramp is closed to everybody who has not asked the office.
""",
    "services/moorings.md": """\
---
title: Moorings and fees
path: [Harbour handbook, Services]
type: reference
tags: [fees]
date: 2024-11-20
---
# Moorings and fees

Visitors moor on pontoon C. Electricity is metered; the harbour master sells cards for it, and
takes them back on the day of departure if they have not been used up.

| length | per night |
|---|---|
| up to 8 m | 14 € |
| up to 12 m | 21 € |

## Paying by `mooring_card`

Hold the `mooring_card` to the reader until it blinks twice, then read the balance on its display.
""",
}

GERMAN = """\
---
title: Hafengebühren
lang: de
---
# Hafengebühren

Die Gebühren richten sich nach der Länge des Schiffes. Gäste zahlen im Büro des Hafenmeisters, und
wer länger als sieben Nächte bleibt, erhält auf jede weitere Nacht einen Nachlass von zehn Prozent.
"""

RUSSIAN = """\
---
title: Причалы
lang: ru
---
# Причалы

Гости швартуются у третьего причала. Электричество оплачивается отдельно, карты продаёт начальник
порта, и неиспользованные карты он принимает обратно в день отъезда.
"""


@dataclass(frozen=True)
class Source:
    """One version of a library and its files."""

    library: str
    version: str
    files: dict[str, str]
    language: str = "en"
    base_url: str = "https://harbour.example"


SOURCES = [
    Source("harbour", "1.0", {key: HANDBOOK[key] for key in ("index.md", "services/moorings.md")}),
    Source("harbour", "2.1", HANDBOOK),
    # Names may have slashes, and this one has no versions.
    Source("port/authority", "", {"gebuehren.md": GERMAN, "prichaly.md": RUSSIAN}),
]


def indexed(url: str, folder: Path, sources: Sequence[Source] = tuple(SOURCES)) -> str:
    """Index sources into a database, by way of a folder; returns the URL of the database."""
    with App(Settings(database_url=url, pool_size=2)) as app:
        for source in sources:
            app.index(
                source.library, source.version, str(write(source, folder)),
                base_url=source.base_url, language=source.language,
            )  # fmt: skip
    return url


def ingest_buoys(connection: psycopg.Connection[Any]) -> None:
    """Ingest a library of thirty short pages."""
    pages = [
        {"key": f"{number}.md", "body": f"Buoy {number} marks the channel near pontoon {number}."}
        for number in range(30)
    ]
    connection.execute("select pgrag.ingest_pages('harbour', %s)", [Jsonb(pages)])
    connection.execute("select pgrag.embed_pending('harbour')")


def write(source: Source, folder: Path) -> Path:
    """Write the files of a source below a folder; return where they are."""
    root = folder / f"{source.library.replace('/', '-')}-{source.version}"
    for key, text in source.files.items():
        file = root / key
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return root
