"""Where the database is, if nothing else is set, without pydantic, whose import takes longer than a
search. `settings` reads, and explains, everything else.
"""

import json
import os
import re

from pgrag.ground.lively import LIVELY

_KNOWN = {"PGRAG_DATABASE_URL", "PGRAG_HOME"}
#: A setting without the prefix that concerns a search.
_BARE = {"HYBRID_ALPHA"}


def address() -> dict[str, str] | None:
    """Where the database is, as parameters of libpq; None if anything else is set."""
    settings = {name.upper(): value for name, value in os.environ.items() if value}
    if os.path.exists(".env"):
        from dotenv import dotenv_values  # noqa: PLC0415 - most have no such file

        try:
            values = dotenv_values(".env", encoding="utf-8").items()
        except (OSError, UnicodeDecodeError):
            return None
        settings = {name.upper(): value for name, value in values if value} | settings
    ours = {name for name in settings if name.startswith("PGRAG_")} | _BARE
    if ours & settings.keys() - _KNOWN:
        return None
    url = settings.get("PGRAG_DATABASE_URL")
    place = _of_url(url) if url else _of_home(settings.get("PGRAG_HOME"))
    if place is None:
        return None
    lively = {name: str(value) for name, value in LIVELY.items()}
    if "PGCONNECT_TIMEOUT" in os.environ:
        del lively["connect_timeout"]
    return lively | place | {"application_name": "pgrag", "client_encoding": "UTF8"}


def _of_url(url: str) -> dict[str, str] | None:
    """The address of a database without anything that `checked_database_url` would refuse."""
    scheme, separator, rest = url.partition("://")
    server, _, path = rest.partition("/")
    is_plain = scheme == "postgresql" and server.count("@") < 2 and "@" not in path
    is_plain = is_plain and not re.search(r"%(?![0-9A-Fa-f]{2})|\s", url)
    return {"dbname": url} if separator and is_plain else None


def _of_home(home: str | None) -> dict[str, str] | None:
    """The embedded server of a home; see `Cluster`."""
    if home is None:
        from platformdirs import user_data_path  # noqa: PLC0415 - slow

        home = str(user_data_path("pgrag"))
    folder = os.path.join(os.path.abspath(os.path.expanduser(home)), "cluster")
    try:
        with open(os.path.join(folder, "server.json"), encoding="utf-8") as file:
            cluster = json.load(file)
        return {
            "host": cluster["socket"], "port": str(cluster["port"]), "user": "pgrag",
            "password": cluster["password"], "dbname": "pgrag",
        }  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError):
        return None
