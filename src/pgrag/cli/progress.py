"""How far a long run is, how fast it goes, and how long it will take."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from pgrag.cli.output import stderr


class _RateColumn(ProgressColumn):
    """Pages and documents a second since the beginning."""

    def render(self, task: Task) -> Text:
        elapsed = task.elapsed or 0.0
        if elapsed < 0.5:
            return Text("")
        pages, documents = task.completed / elapsed, task.fields["documents"] / elapsed
        return Text(f"{pages:,.0f} pages/s, {documents:,.0f} documents/s", style="dim")


@contextmanager
def shown_step(title: str, *, hidden: bool) -> Iterator[None]:
    """Say on stderr what is being done, and for how long, until it is done.

    Nothing is shown where stderr is no terminal, or where it shall be `hidden`.
    """
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        TimeElapsedColumn(),
        console=stderr(),
        transient=True,
        disable=hidden or not sys.stderr.isatty(),
    ) as progress:
        progress.add_task(title, total=None)
        yield


@contextmanager
def shown_progress(title: str, *, hidden: bool) -> Iterator[Callable[[int, int, int], None]]:
    """Lend what takes (pages done, pages in all, documents written) and shows it on stderr.

    Nothing is shown where stderr is no terminal, or where it shall be `hidden`.
    """
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _RateColumn(),
        TimeRemainingColumn(compact=True),
        console=stderr(),
        transient=True,
        disable=hidden or not sys.stderr.isatty(),
    ) as progress:
        task = progress.add_task(title, total=None, documents=0)

        def show(done: int, total: int, documents: int) -> None:
            progress.update(
                task,
                completed=done,
                total=total,
                documents=documents,
                description=title if done < total else f"{title}: finishing",
            )

        yield show


@contextmanager
def shown_count(title: str, *, hidden: bool) -> Iterator[Callable[[int, int, int], None]]:
    """Lend what takes (done, in all, failed) of slow single steps, and shows it on stderr."""
    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(compact=True),
        console=stderr(),
        transient=True,
        disable=hidden or not sys.stderr.isatty(),
    ) as progress:
        task = progress.add_task(title, total=None)

        def show(done: int, total: int, failed: int) -> None:
            told = f"{title} ({failed:,} failed)" if failed else title
            progress.update(task, completed=done, total=total, description=told)

        yield show
