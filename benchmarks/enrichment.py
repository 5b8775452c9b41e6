"""Enrichment: concurrent requests, the load of this process meanwhile, and the cost."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

from pydantic import SecretStr

from benchmarks.bench import Bench
from benchmarks.figures import Figure
from pgrag.ground.settings import Settings
from pgrag.ingest.enrichment import Kind
from pgrag.service.app import App

_CONCURRENCY = 8
#: Seconds per answer of the simulated model: a small model on a good machine.
_SECONDS = 0.5
_PAGES = 50
_PARTS = ("Blade", "Handle", "Storage", "Repair", "Safety", "History", "Parts", "Makers")


def in_flight(bench: Bench) -> list[Figure]:
    """Enrich the paragraphs of some pages by a model that takes half a second for each."""
    pages = _PAGES // 5 if bench.quick else _PAGES
    folder = _written(bench.scratch / "workshop", pages)
    with _model() as url:
        settings = Settings(
            database_url=SecretStr(bench.url),
            llm_url=url,
            llm_model="slow",
            llm_concurrency=_CONCURRENCY,
        )
        with App(settings) as app:
            app.index("workshop", "", str(folder))
            enricher = app.enricher("workshop")
            # Planning first excludes one-time loading from the measured run.
            planned = enricher.plan(Kind.CONTEXT)
            cpu, wall = time.process_time(), time.monotonic()
            report = enricher.run(Kind.CONTEXT)
            cpu, wall = time.process_time() - cpu, time.monotonic() - wall
            again = time.monotonic()
            repeated = enricher.run(Kind.CONTEXT)
            again = time.monotonic() - again
        told = json.load(urlopen(f"{url.removesuffix('/v1')}/figures"))
    on = f"{report.calls} calls of {_SECONDS} s, {_CONCURRENCY} at a time"
    mean = told["busy"] / wall
    share = cpu / wall
    return [
        Figure(
            "requests in flight, on average",
            on,
            f"{mean:.1f} (at most {told['most_at_once']})",
            f"at least {0.9 * _CONCURRENCY:.1f}",
            mean >= 0.9 * _CONCURRENCY and told["most_at_once"] == _CONCURRENCY,
        ),
        Figure(
            "processor time of the process that waits",
            on,
            f"{100 * share:.0f} % of one ({1000 * cpu / max(report.calls, 1):.1f} ms a call)",
            "at most 25 %",
            share <= 0.25,
        ),
        Figure(
            "calls as planned, and in a second run",
            f"planned {planned.calls}",
            f"{report.calls}, then {repeated.calls} ({again:.2f} s)",
            f"{planned.calls}, then 0",
            (report.calls, repeated.calls) == (planned.calls, 0)
            and told["requests"] == planned.calls,
        ),
    ]


def _written(folder: Path, pages: int) -> Path:
    """Write pages that are all different, each with eight paragraphs."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(pages):
        parts = "\n\n".join(
            f"## {part}\n\n"
            + " ".join(
                f"The {part.lower()} of machine {number} is looked at by hand {step} times a year,"
                f" and what is found stands in book {number + step}."
                for step in range(1, 6)
            )
            for part in _PARTS
        )
        (folder / f"machine-{number}.md").write_text(f"# Machine {number}\n\n{parts}\n", "utf-8")
    return folder


@contextmanager
def _model() -> Iterator[str]:
    """Lend the address of a slow model in a separate process."""
    command = [sys.executable, "-m", "benchmarks.slow_model", str(_SECONDS)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.terminate()
