"""Progress of a long run: position, rate and remaining time."""

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
    """Pages and documents per second since the start."""

    def render(self, task: Task) -> Text:
        elapsed = task.elapsed or 0.0
        if elapsed < 0.5:
            return Text("")
        pages, documents = task.completed / elapsed, task.fields["documents"] / elapsed
        return Text(f"{pages:,.0f} pages/s, {documents:,.0f} documents/s", style="dim")


_TITLE = TextColumn("{task.description}", markup=False)
_COUNTED = (_TITLE, BarColumn(), MofNCompleteColumn())


def _progress(*columns: ProgressColumn, hidden: bool) -> Progress:
    """Return a progress display on stderr, unless it is `hidden` or stderr is no terminal."""
    return Progress(
        *columns, console=stderr(), transient=True, disable=hidden or not sys.stderr.isatty()
    )


@contextmanager
def shown_step(title: str, *, hidden: bool) -> Iterator[None]:
    """Show the current step and its duration on stderr until the block ends."""
    with _progress(SpinnerColumn(), _TITLE, TimeElapsedColumn(), hidden=hidden) as progress:
        progress.add_task(title, total=None)
        yield


@contextmanager
def shown_progress(title: str, *, hidden: bool) -> Iterator[Callable[[int, int, int], None]]:
    """Yield a function of (pages done, pages in all, documents written) that shows progress."""
    columns = (*_COUNTED, _RateColumn(), TimeRemainingColumn(compact=True))
    with _progress(*columns, hidden=hidden) as progress:
        task = progress.add_task(f"{title}: finding pages", total=None, documents=0)

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
    """Yield a function of (done, in all, failed) that shows the progress of slow steps."""
    with _progress(*_COUNTED, TimeRemainingColumn(compact=True), hidden=hidden) as progress:
        task = progress.add_task(title, total=None)

        def show(done: int, total: int, failed: int) -> None:
            description = f"{title} ({failed:,} failed)" if failed else title
            progress.update(task, completed=done, total=total, description=description)

        yield show
