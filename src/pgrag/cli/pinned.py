"""`pgrag pinned`: the versions that a project depends on."""

from typing import Annotated

from typer import Argument

from pgrag.cli.command import App, command, listed
from pgrag.cli.output import Output, notice


@command
def pinned(
    app: App,
    project: Annotated[
        str, Argument(metavar="[PATH]", help="Its folder, or a lock file; default: this folder.")
    ] = ".",
) -> Output:
    """List the libraries that a project depends on, each in the version that is read for it.

    Lock files and manifests say it: package-lock.json, pnpm-lock.yaml, uv.lock, go.mod … A search
    reads these versions with --project.
    """
    from pgrag.project import read

    of_files = read(project)
    rows = app.database.call("pinned_versions", dependencies=of_files.dependencies)
    names = len(of_files.dependencies)
    nothing = f"None of its {names} dependencies is a library that is indexed."
    notice(*of_files.notes)
    return listed(
        rows,
        {
            "library": "library", "dependency": "dependency", "wanted": "wanted",
            "version": lambda row: row["version"] or "(unversioned)", "why": "reason",
        },
        nothing=nothing,
    )  # fmt: skip
