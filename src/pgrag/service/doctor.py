"""Check a database and name remedies. Changes nothing."""

from collections.abc import Callable, Collection, Iterator
from functools import partial
from ipaddress import ip_address
from itertools import groupby, islice
from operator import itemgetter
from typing import Any

import psycopg
from psycopg.rows import dict_row

from pgrag.ground import schema
from pgrag.ground.calls import call
from pgrag.ground.connections import connect
from pgrag.ground.driver_errors import translated_errors
from pgrag.ground.errors import DatabaseError, LanguageModelError, SettingsError
from pgrag.ground.schema import Finding
from pgrag.ground.settings import masked_url, misspelt_settings
from pgrag.models.embedding.builtin import read_description
from pgrag.models.llm import ChatModel

_UPGRADE = "Run `pgrag db upgrade`."
# Passwords of tutorials, images and compose files.
_GUESSED_PASSWORDS = frozenset(
    {
        *("", "postgres", "password", "passwd", "pgrag", "admin", "root", "secret", "changeme"),
        *("change-me", "example", "mysecretpassword", "docker", "test", "1234", "12345", "123456"),
        *("12345678", "123456789", "qwerty", "letmein"),
    }
)
_of_index = partial(Finding, "vector index")
_of_password = partial(Finding, "password", "warning")
_ENFORCED_TLS = frozenset({"require", "verify-ca", "verify-full"})


def findings(url: str, *, is_embedded: bool, models: Collection[str]) -> list[Finding]:
    """Check a database, its schema, its libraries, and the `models` configured here."""
    try:
        with translated_errors(), connect(url, autocommit=True) as connection:
            listed = [
                Finding("database", "ok", masked_url(url)),
                *schema.server_findings(connection),
                *_shadowing_findings(connection),
                *_network_findings(connection),
            ]
            status = schema.status(url)
            listed.append(_schema_finding(status, is_embedded=is_embedded))
            if status.state == "current":
                connection.row_factory = dict_row
                listed.append(_roles_finding(connection))
                listed.append(_builtin_model_finding(connection))
                listed.extend(_library_findings(connection, models))
                listed.extend(_loss_findings(connection))
    except DatabaseError as error:
        return [Finding("database", "wrong", error.message, error.hint or "")]
    return listed


def settings_findings() -> list[Finding]:
    """Warn of environment variables that look like misspelt settings."""
    return [
        Finding(
            "settings",
            "warning",
            f"There is no setting {name}; it has no effect.",
            f"Perhaps {near} is meant.",
        )
        for name, near in misspelt_settings()
    ]


def _shadowing_findings(connection: psycopg.Connection[Any]) -> Iterator[Finding]:
    """Warn if anyone may put a function next to pgvector, where functions of pgrag look."""
    open_schemas = connection.execute(
        "select n.nspname from pg_extension as e join pg_namespace as n on n.oid = e.extnamespace"
        " where e.extname = 'vector' and has_schema_privilege('public', n.oid, 'create')"
    )
    for (name,) in open_schemas:
        yield Finding(
            "search_path",
            "wrong",
            f"Every role may create functions in the schema {name}, which holds pgvector, and pgrag"
            " could call them.",
            f"Run `revoke create on schema {name} from public`.",
        )


def _network_findings(connection: psycopg.Connection[Any]) -> Iterator[Finding]:
    """Warn of a database on another machine that strangers could read, or talk to unnoticed."""
    info = connection.info
    # Without authentication, a server knows no name for who logged in.
    is_open = (
        not connection.pgconn.used_password
        and info.server_version >= 160000  # what is older has a finding of its own
        and connection.execute("select system_user").fetchone() == (None,)
    )
    yield from network_warnings(
        info.hostaddr,
        user=info.user,
        database=info.dbname,
        password=info.password if connection.pgconn.used_password else None,
        is_open=is_open,
        sslmode=info.get_parameters().get("sslmode", "prefer"),
    )


def network_warnings(
    address: str, *, user: str, database: str, password: str | None, is_open: bool, sslmode: str
) -> Iterator[Finding]:
    """Warn of a password (None: not asked for) that is easily guessed, of none (`is_open`), and of
    no enforced TLS; not for a server at a socket or a local address.
    """
    if not address or ip_address(address.partition("%")[0]).is_loopback:
        return
    if is_open:
        yield _of_password(
            f"The server at {address} lets everybody in as the role {user}, without a password.",
            "Require scram-sha-256 in pg_hba.conf, and give the role a password.",
        )
    elif password is not None and password.lower() in {
        *_GUESSED_PASSWORDS,
        user.lower(),
        database.lower(),
    }:
        yield _of_password(
            f"The password of the role {user} at {address} is a default or a name, and easily"
            " guessed.",
            f"Set another one (`alter role {user} password …`), and put it into"
            " PGRAG_DATABASE_URL.",
        )
    if sslmode not in _ENFORCED_TLS:
        yield Finding(
            "tls",
            "warning",
            f"The connection to {address} is not bound to TLS (sslmode={sslmode}): others in the"
            " network could read or change what passes.",
            "Append sslmode=verify-full (or at least sslmode=require) to PGRAG_DATABASE_URL, unless"
            " the network is yours alone.",
        )


def language_model_finding(required: Callable[[], ChatModel]) -> Finding:
    """Check that the language model's server is up and lists the model, without generating."""
    name = "language model"
    try:
        model = required()
        served = model.served()
    except (SettingsError, LanguageModelError) as error:
        return Finding(name, "wrong", error.message, error.hint or "")
    # Ollama's model names end in an optional tag after a colon.
    if served is None or any(model.name in {one, one.rpartition(":")[0]} for one in served):
        return Finding(name, "ok", f"{model}.")
    known = ", ".join(sorted(served)[:10]) or "none"
    return Finding(
        name,
        "wrong",
        f"{model} is not among the models that the server lists: {known}.",
        "Check PGRAG_LLM_MODEL, or load the model on the server.",
    )


def _schema_finding(status: schema.SchemaStatus, *, is_embedded: bool) -> Finding:
    if status.state == "current":
        functions = f"functions {status.digest[:12]}"
        return Finding("schema", "ok", f"Revision {status.revision}, {functions}.")
    if is_embedded and status.state in {"missing", "outdated"}:
        message = f"{status.message} The next command brings in what is missing."
        return Finding("schema", "ok", message)
    return Finding("schema", "wrong", status.message, status.remedy)


def _roles_finding(connection: psycopg.Connection[Any]) -> Finding:
    row = connection.execute(
        "select bool_and(c.relrowsecurity) and to_regrole('pgrag_admin') is not null as secured"
        " from _pgrag.kinds_of_tables() as k"
        " join pg_class as c on c.oid = format('pgrag.%I', k.name)::regclass"
        " where k.condition is not null"
    ).fetchone()
    if row and row["secured"]:
        return Finding("roles", "ok", "Roles see the libraries that were granted to them.")
    return Finding(
        "roles",
        "warning",
        "Row-level security is off: a role that may read the tables reads every library.",
        "Run `pgrag db upgrade`: it makes the roles, or says what somebody else has to run.",
    )


def _builtin_model_finding(connection: psycopg.Connection[Any]) -> Finding:
    description = read_description()
    row = connection.execute(
        "select count(t.token) as tokens"
        " from pgrag.embedding_models as m"
        " join pgrag.model_tokens as t on t.model_id = m.model_id"
        " where m.name = %s and m.checksum = %s",
        (description.name, description.checksum),
    ).fetchone()
    tokens = row["tokens"] if row else 0
    if not tokens:
        message = f"The built-in model {description.name} is missing, or another edition of it."
        return Finding("model", "wrong", message, _UPGRADE)
    return Finding("model", "ok", f"{description.name} with {tokens:,} tokens.")


_LEFT_OVER = r"""
select c.relname as name
from pg_class as c
where c.relnamespace = 'pgrag'::regnamespace
    and c.relname ~ '^embeddings_hnsw_\d+_\d+$'
    and not exists (
        select
        from pgrag.libraries as l
        where l.own_vector_index and l.library_id = substring(c.relname from '\d+$')::bigint
    )
order by 1
"""


#: The condition is that of the index, which holds no other page.
_LOSSES = """
select
    l.name as library, v.label as version, p.key, p.words_shown, p.words_kept,
    count(*) over (partition by p.library_id) as pages
from pgrag.pages as p
join pgrag.libraries as l on l.library_id = p.library_id
join pgrag.versions as v on v.library_id = p.library_id and v.version_id = p.version_id
where p.words_shown - p.words_kept >= 20
    and 10 * (p.words_shown - p.words_kept) > p.words_shown
order by l.name, p.words_shown - p.words_kept desc, v.label, p.key
"""
_NAMED_LOSSES = 3


def _loss_findings(connection: psycopg.Connection[Any]) -> Iterator[Finding]:
    """Name the pages of each library that lack more than a tenth of their words."""
    rows = connection.execute(_LOSSES)
    for library, group in groupby(rows, key=itemgetter("library")):
        worst = [*islice(group, _NAMED_LOSSES)]
        named = ", ".join(
            f"{row['key']}{row['version'] and ' of ' + row['version']}"
            f" ({row['words_kept']:,} of {row['words_shown']:,})"
            for row in worst
        )
        pages = f"{worst[0]['pages']:,} page{'s' if worst[0]['pages'] > 1 else ''}"
        yield Finding(
            f"library {library}",
            "warning",
            f"Of {pages} more than a tenth of the words is not indexed, most of {named}.",
            "Look with `pgrag read` what is missing; Markdown, or another form of the pages, may"
            " have it.",
        )


def _library_findings(
    connection: psycopg.Connection[Any], models: Collection[str]
) -> Iterator[Finding]:
    used: dict[str, list[dict[str, Any]]] = {}
    builtin = read_description().name
    earlier = {
        row["name"]
        for row in connection.execute(
            "select m.name from pgrag.embedding_models as m"
            " where m.provider = 'builtin' and m.name <> %s",
            (builtin,),
        )
    }
    models = {*models, *earlier}
    for row in call(connection, "libraries"):
        name, model = row["library"], row["model"]
        if model is None:
            continue
        used.setdefault(model, []).append(row)
        remedies: dict[str, str] = {}
        if model not in models:
            remedies[f"its model {model} is not configured here, so queries are not embedded"] = (
                "Set PGRAG_EMBEDDING_MODEL, and where it runs elsewhere PGRAG_EMBEDDING_URL."
            )
        unfinished = [
            version["version"] or "(unversioned)"
            for version in call(connection, "library_versions", library=name)
            if version["status"] != "ready"
        ]
        if unfinished:
            remedies[f"indexing of {', '.join(unfinished)} has not finished"] = (
                "Run `pgrag index` again with the same source, unless it runs right now."
            )
        elif model in models and call(
            connection, "pending_embeddings", library=name, model=model, top_k=1
        ):
            remedies[f"some texts have no vector by {model}"] = f"Run `pgrag embed {name}`."
        if remedies:
            yield Finding(
                f"library {name}", "wrong", "; ".join(remedies), " ".join(remedies.values())
            )
            continue
        versions = "1 version" if row["versions"] == 1 else f"{row['versions']:,} versions"
        message = f"{versions}, {row['documents']:,} passages, by {model}"
        if model in earlier:
            yield Finding(
                f"library {name}",
                "warning",
                f"{message}, the built-in model of an earlier version of pgrag.",
                f"Run `pgrag embed {name} --model {builtin} --activate`: until it is done, searches"
                " use the vectors that are there.",
            )
        else:
            yield Finding(f"library {name}", "ok", f"{message}.")
    for model, libraries in used.items():
        yield from _vector_index_findings(connection, model, libraries)
    for row in connection.execute(_LEFT_OVER):
        yield _of_index(
            "warning",
            f"{row['name']} is the index of a removed library: it was in use then, so it stayed.",
            f"drop index concurrently pgrag.{row['name']};",
        )


def _vector_index_findings(
    connection: psycopg.Connection[Any], model: str, libraries: list[dict[str, Any]]
) -> Iterator[Finding]:
    """Report the HNSW indexes of a model that some libraries use, if searches cannot read them."""
    names = [row["library"] for row in sorted(libraries, key=lambda row: row["documents"])]
    large = connection.execute("select l.name from pgrag.libraries as l where l.own_vector_index")
    own = {row["name"] for row in large}
    indexes: dict[str | None, tuple[str, dict[str, Any]]] = {}
    for library in (None, *(name for name in names if name in own)):
        [index] = call(connection, "vector_index_state", model=model, library=library)
        indexes[library] = library or names[-1], index
    for owner, (library, index) in indexes.items():
        vectors = f"vectors of {model}" + (f" in {owner}" if owner else "")
        if index["put_off"]:
            yield _of_index(
                "warning",
                f"A run that stores many {vectors} has put off their index, or builds it: until"
                " then searches scan all vectors.",
                "Wait for its end.",
            )
        elif not index["valid"]:
            yield _of_index(
                "wrong",
                f"The {vectors} have no index, perhaps because a run that had put it off was"
                " interrupted, or waited in vain for other sessions: searches scan all vectors,"
                " which is slow in large libraries.",
                f"Run `pgrag embed {library}`"
                + ("" if owner else ", or any `pgrag index` by this model,")
                + " as the owner of the tables.",
            )
        elif owner:
            yield _of_index(
                "ok", f"The {vectors} have an index of their own: the library has many."
            )
