"""Progress of a long run: position, rate and remaining time."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich import progress as bars
from rich.text import Text

from pgrag.cli.output import stderr


class _RateColumn(bars.ProgressColumn):
    """Pages and passages per second since the start; pages alone while a site is fetched."""

    def render(self, task: bars.Task) -> Text:
        elapsed, documents = task.elapsed or 0.0, task.fields["documents"]
        if elapsed < 0.5:
            return Text("")
        told = f"{task.completed / elapsed:,.0f} pages/s"
        if documents is not None:
            told += f", {documents / elapsed:,.0f} passages/s"
        return Text(told, style="dim")


_TITLE = bars.TextColumn("{task.description}", markup=False)
_COUNTED = (_TITLE, bars.BarColumn(), bars.MofNCompleteColumn())


def _progress(*columns: bars.ProgressColumn, hidden: bool) -> bars.Progress:
    """Return a progress display on stderr, unless it is `hidden` or stderr is not a terminal."""
    return bars.Progress(
        *columns, console=stderr(), transient=True, disable=hidden or not sys.stderr.isatty()
    )


@contextmanager
def shown_step(title: str, *, hidden: bool) -> Iterator[None]:
    """Show the current step and its duration on stderr until the block ends."""
    with _progress(
        bars.SpinnerColumn(), _TITLE, bars.TimeElapsedColumn(), hidden=hidden
    ) as progress:
        progress.add_task(title, total=None)
        yield


@contextmanager
def shown_progress(title: str, *, hidden: bool) -> Iterator[Callable[[int, int, int | None], None]]:
    """Yield a function of (pages done, pages in total, passages written) that shows progress.

    Passages are None while pages of a website are fetched; indexing then counts from zero.
    """
    columns = (*_COUNTED, _RateColumn(), bars.TimeRemainingColumn(compact=True))
    with _progress(*columns, hidden=hidden) as progress:
        task = progress.add_task(f"{title}: finding pages", total=None, documents=0)
        is_fetching = False

        def show(done: int, total: int, documents: int | None) -> None:
            nonlocal is_fetching
            if is_fetching and documents is not None:
                progress.reset(task)
            is_fetching = documents is None
            stage = ": fetching pages" if is_fetching else "" if done < total else ": finishing"
            counts: dict[str, Any] = {"completed": done, "total": total, "documents": documents}
            progress.update(task, **counts, description=f"{title}{stage}")

        yield show


@contextmanager
def shown_count(title: str, *, hidden: bool) -> Iterator[Callable[[int, int, int], None]]:
    """Yield a function of (done, in total, failed) that shows the progress of slow steps."""
    with _progress(*_COUNTED, bars.TimeRemainingColumn(compact=True), hidden=hidden) as progress:
        task = progress.add_task(title, total=None)

        def show(done: int, total: int, failed: int) -> None:
            description = f"{title} ({failed:,} failed)" if failed else title
            progress.update(task, completed=done, total=total, description=description)

        yield show
