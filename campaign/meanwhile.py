"""What others do to libraries while a caller asks: they hold locks, have jobs, and write."""

import json
import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import sleep
from typing import Any

import psycopg
from psycopg.types.json import Jsonb
from pydantic import SecretStr

from campaign import corpus
from campaign.servers import execute
from campaign.tenants import CANARY, OTHER, PAGES
from pgrag.ground.errors import NotFound
from pgrag.ground.settings import Settings
from pgrag.service.app import App

#: Hidden libraries: one that a process writes, and one that a transaction has not committed yet.
WRITTEN, NEW = f"{CANARY}-written", f"{CANARY}-new"
LABELS = ("1.0", "2.0")
#: Seconds between two changes: the service shares the processor.
PAUSE = 0.1

_TABLES = """
select c.relname, a.attname
from pg_class as c
join pg_attribute as a on a.attrelid = c.oid and a.attname in ('library', 'library_id')
where c.relnamespace = 'pgrag'::regnamespace and c.relkind = 'r'
"""
_VERSIONS = """
select l.name, v.label
from pgrag.libraries as l
join pgrag.versions as v on v.library_id = l.library_id
where l.name = any (%s)
"""


@contextmanager
def locked(url: str, libraries: Sequence[str]) -> Iterator[psycopg.Connection[Any]]:
    """Hold the advisory locks of every run and removal of these libraries, and all their rows."""
    with psycopg.connect(url) as connection:
        versions = connection.execute(_VERSIONS, [[*libraries]]).fetchall()
        names = {"@".join(filter(None, version)) for version in versions} | {*libraries}
        for name in sorted(names):
            for doing in ("index", "version", "library", "crawl", "enrich"):
                connection.execute(
                    "select pg_advisory_lock(hashtextextended(%s, 0))", [f"pgrag {doing} {name}"]
                )
        for table, column in connection.execute(_TABLES).fetchall():
            named = "library = any (%s)"
            if column == "library_id":
                named = (
                    "library_id in (select library_id from pgrag.libraries where name = any (%s))"
                )
            statement = f"select from pgrag.{table} where {named} for update"
            connection.execute(statement.encode(), [[*libraries]])
        yield connection


@contextmanager
def busy(url: str) -> Iterator[None]:
    """Hold the other library, with a job in every state, and a new one that is not committed."""
    for library in (OTHER, WRITTEN):
        for state in ("queued", "succeeded", "failed", "cancelled", "uploading", "running"):
            further = ", leased_until = 'tomorrow', worker = 'w'" if state == "running" else ""
            source = json.dumps({"source": f"/{CANARY}/{state}"})
            execute(
                url,
                f"select pgrag.create_job('{library}', '{source}', run_at => 'tomorrow')",
                f"update pgrag.jobs set state = '{state}'{further}"
                f" where library = '{library}' and arguments = '{source}'",
            )
    with locked(url, [OTHER]) as connection:
        connection.execute("select pgrag.open_version(%s, '1.0')", [NEW])
        yield


@contextmanager
def written(url: str, seed: int) -> Iterator["Synchronized[int]"]:
    """Let a process change a hidden library without end; yields the number of its changes. Raises
    RuntimeError if the process has ended by itself.
    """
    context = multiprocessing.get_context("spawn")
    changes = context.Value("q", 0)
    process = context.Process(target=_write, args=(url, seed, changes), daemon=True)
    process.start()
    try:
        yield changes
        if not process.is_alive():
            raise RuntimeError(f"The process that writes {WRITTEN} has ended: see its error.")
    finally:
        process.kill()
        process.join()


def _write(url: str, seed: int, changes: "Synchronized[int]") -> None:
    random = Random(seed)
    settings = Settings(database_url=SecretStr(url), embedding_url=None)
    with TemporaryDirectory() as folder, App(settings) as app:
        steps: list[Callable[[], object]] = [
            *[partial(_index, app, random, Path(folder))] * 4,
            partial(app.database.call, "remove_version", library=WRITTEN, version=LABELS[0]),
            partial(app.database.call, "remove_library", library=WRITTEN),
            # To an index of its own, and back.
            partial(app.database.call, "place_vectors", library=WRITTEN, expected=50_000),
            partial(app.database.call, "place_vectors", library=WRITTEN),
            partial(_rename, url),
            partial(_make_job, app),
        ]
        while True:
            with suppress(NotFound):  # What was removed comes back with the next index.
                random.choice(steps)()
            changes.value += 1
            sleep(PAUSE)


def _index(app: App, random: Random, folder: Path) -> None:
    """Index some of the pages; the same page under another key is renamed."""
    keys = random.sample([*PAGES], k=random.randint(1, len(PAGES)))
    pages = {f"{random.choice(['', 'moved/'])}{key}": PAGES[key] for key in keys}
    label = random.choice(LABELS)
    with TemporaryDirectory(dir=folder) as root:
        [source] = corpus.write(Path(root), {(WRITTEN, label): pages}).values()
        app.index(WRITTEN, label, str(source))


def _rename(url: str) -> None:
    """Give the library another name, and the old one again."""
    rename = "update pgrag.libraries set name = '{}' where name = '{}'"
    execute(url, rename.format(f"{WRITTEN}-2", WRITTEN), rename.format(WRITTEN, f"{WRITTEN}-2"))


def _make_job(app: App) -> None:
    """Make a job, and cancel it."""
    arguments = Jsonb({"source": "https://docs.example/"})
    [row] = app.database.call("create_job", library=WRITTEN, arguments=arguments)
    app.database.call("cancel_job", job_id=row["create_job"])
