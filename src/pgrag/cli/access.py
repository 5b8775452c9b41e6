"""`pgrag keys` and `pgrag audit`: callers of services, and what they did."""

from typing import Annotated, Any, Literal

import typer
from typer import Argument, Option

from pgrag.cli import options
from pgrag.cli.command import App, Arguments, Columns, listing, member, text
from pgrag.cli.notations import parse_duration, parse_rate
from pgrag.cli.output import Output, Row, print_text
from pgrag.cli.retention import add_retention, export
from pgrag.cli.session import told

keys = typer.Typer(help="Keys for REST and MCP: create, list, rotate and revoke them.")
audit = typer.Typer(help="The audit: who searched or changed what, and what was refused.")

KeyName = Annotated[str, Argument(metavar="NAME", help="Its name.")]


def _shown(row: Row) -> str:
    if row["state"] != "valid" or row["secrets"] == 1:
        return str(row["state"])
    return f"{row['state']}, {row['secrets']} secrets"


_KEYS: Columns = {
    "name": "name", "kind": "kind", "role": "role", "state": _shown,
    "libraries": lambda row: ", ".join(row["libraries"]),
    "origins": lambda row: ", ".join(row["origins"]),
    "rate/s": lambda row: f"{row['rate']:g}", "expires": "expires_at", "last used": "last_used_at",
}  # fmt: skip

_LIST = "List the keys by name; secrets are never shown again."
keys.command()(listing("list", "keys", _LIST, {}, _KEYS, nothing="There is no key."))


@member(keys)
def create(
    app: App,
    name: KeyName,
    *,
    libraries: Annotated[str, Option("--libraries", "-l", metavar="A,B", help="Names, or '*'.")],
    role: Annotated[
        Literal["search", "write", "admin"],
        Option(help="search: read, search, rate; write: also change libraries; admin: all."),
    ] = "search",
    expires: Annotated[str | None, Option(metavar="TIME", help="90d, 12h; default: never.")] = None,
    rate: Annotated[str, Option(metavar="RATE", help="Requests: 10/s, 600/min.")] = "20/s",
    burst: Annotated[
        int | None, Option(min=1, help="Requests at once; default: two seconds of the rate.")
    ] = None,
    concurrency: Annotated[int, Option(min=1, help="Running requests at the same time.")] = 10,
    timeout: Annotated[
        str | None, Option(metavar="TIME", help="Statement timeout: 5s; default: the service's.")
    ] = None,
    answers_per_hour: Annotated[
        int | None,
        Option(min=0, help="By the language model; default: no limit, publishable keys none."),
    ] = None,
    origin: Annotated[
        list[str] | None, Option(metavar="URL", help="Publishable, for pages of this origin.")
    ] = None,
) -> Output:
    """Create a key for REST and MCP, and print its secret once."""
    limit = None if timeout is None else parse_duration(timeout, "--timeout")
    return _secret(
        app, "create_key", name, role=role, rate=parse_rate(rate), burst=burst,
        libraries=[part.strip() for part in libraries.split(",") if part.strip()],
        kind="publishable" if origin else "secret", origins=origin or [],
        expires_in=None if expires is None else parse_duration(expires, "--expires"),
        concurrency=concurrency, answers_per_hour=answers_per_hour,
        timeout_ms=None if limit is None else max(1, round(1000 * limit.total_seconds())),
    )  # fmt: skip


@member(keys)
def rotate(
    app: App,
    name: KeyName,
    grace: Annotated[
        str, Option(metavar="TIME", help="Validity of the old secret: 12h, 0s.")
    ] = "1d",
) -> Output:
    """Add a secret to a key and print it; the old one stays valid for the grace period."""
    return _secret(app, "rotate_key", name, grace=parse_duration(grace, "--grace", least=0))


def _secret(app: App, function: str, name: str, **arguments: Any) -> Output:
    [row] = told(app, function, name=name, **arguments)
    made = {"name": name.strip().lower(), "secret": row[function]}
    notices = ["Store it now: it is not shown again."]
    return Output(made, lambda: print_text(made["secret"]), notices)


@member(keys)
def revoke(app: App, name: KeyName) -> Output:
    """Revoke a key with all its secrets, permanently, and cancel its jobs."""
    [row] = told(app, "revoke_key", name=name)
    revoked = {"name": name.strip().lower(), "revoked_at": row["revoke_key"]}
    return text(revoked, f"Revoked: {revoked['name']}.")


_FILTERS: Arguments = {
    "since": (options.Since, None),
    "until": (options.Until, None),
    "caller": (Annotated[str | None, Option(metavar="NAME", help="Only of this key.")], None),
    "library": (options.OneLibrary, None),
    "refused": (
        Annotated[bool | None, Option("--refused/--allowed", help="Only these; default: both.")],
        None,
    ),
    "top_k": (options.Limit, 50),
}
_ENTRIES: Columns = {
    "at": "at", "caller": "caller", "role": "role", "action": "action", "library": "library",
    "allowed": "allowed", "reason": "reason", "address": "address",
}  # fmt: skip


audit.command()(
    listing(
        "list", "audit_log", "List what callers did and were refused, the latest first.",
        _FILTERS, _ENTRIES, nothing="The audit has no matching entry.",
        prepared=lambda app, since, until, **values: values | options.moments(since, until),
    )
)  # fmt: skip


@audit.command("export")
def export_audit(since: options.Since = None, until: options.Until = None) -> None:
    """Write the audit to stdout as JSON Lines, the oldest entry first."""
    export("export_audit", since, until)


add_retention(
    audit, forgetter="forget_audit", keeper="keep_audit", asker="audit_retention",
    removed="old entries", kept="The audit is",
)  # fmt: skip
