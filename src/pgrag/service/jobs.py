"""Jobs: runs of indexing, which the database gives to workers; see sql/jobs/."""

from collections.abc import Callable, Mapping
from typing import Any

from pgrag.ground.calls import Row
from pgrag.ground.errors import InvalidInput
from pgrag.ingest.arguments import JobArguments, checked, refuse_meaningless
from pgrag.ingest.reader import Progress
from pgrag.ingest.remembered import options_of
from pgrag.ingest.report import IndexReport, together
from pgrag.ingest.source.source import Source
from pgrag.ingest.source.sources import kind_of
from pgrag.service.app import App

ENDED = frozenset({"succeeded", "failed", "cancelled"})
"""The states of a job that no worker takes up again by itself."""


def create(
    call: Callable[..., list[Row]],
    library: str,
    version: str,
    source: str,
    arguments: Mapping[str, Any],
    **of_job: Any,
) -> int:
    """Make a job of a run with these arguments; return its number. `of_job` are arguments of
    `pgrag.create_job`. Raises InvalidInput.
    """
    stated = _possible(version, arguments)
    refuse_meaningless(stated, kind_of(source, stated.get("ref", stated.get("tags"))))
    [row] = call(
        "create_job",
        library=library,
        version=version,
        arguments={"source": source} | stated,
        **of_job,
    )
    return int(row["create_job"])


def index(
    app: App,
    library: str,
    version: str,
    source: str | Source,
    arguments: Mapping[str, Any],
    *,
    for_others: bool,
    adds: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> IndexReport:
    """Do a job in child processes; the runs for tags are one report. See `App.index`."""
    stated = _possible(version, arguments)
    tags = stated.pop("tags", None)
    if "versions" in stated and not version and isinstance(source, str):
        runs = app.index_versions(
            library, source, in_child=True, for_others=for_others, dry_run=dry_run,
            progress=lambda _: progress, **stated,
        )  # fmt: skip
        return together(library, source, runs)
    if tags is None or not isinstance(source, str):
        return app.index(
            library, version, source, in_child=True, for_others=for_others, adds=adds,
            dry_run=dry_run, progress=progress, **stated,
        )  # fmt: skip
    runs = app.index_tags(
        library, source, tags, in_child=True, for_others=for_others, dry_run=dry_run,
        progress=lambda _: progress, **stated,
    )  # fmt: skip
    return together(library, source, runs)


def _possible(version: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    stated = checked(arguments, JobArguments)
    options_of(stated)
    if "tags" in stated and (version or "ref" in stated):
        raise InvalidInput(
            "With tags, the versions and refs are those of the tags.",
            hint="Leave out version and ref.",
        )
    if "versions" in stated and (version or "tags" in stated):
        raise InvalidInput(
            "With versions, they are those of the folders in the source.",
            hint="Leave out version and tags.",
        )
    return stated
