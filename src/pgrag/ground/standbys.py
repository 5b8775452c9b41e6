"""How the servers that are read first stand to the primary."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Literal

from pgrag.ground import schema
from pgrag.ground.connections import connect
from pgrag.ground.driver_errors import translated_errors
from pgrag.ground.errors import DatabaseError
from pgrag.ground.replicas import servers_of
from pgrag.ground.schema import Finding

LATE_SECONDS = 30.0
"""Seconds behind the primary that are worth a warning."""

# The server, and how far it is: what it was started for, whether it follows, its log.
_STATE = """
select
    c.system_identifier,
    pg_postmaster_start_time(),
    pg_is_in_recovery(),
    case
        when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_insert_lsn()
    end - '0/0'::pg_lsn as position,
    extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::float as seconds
from pg_control_system() as c
"""


@dataclass(frozen=True, slots=True)
class Standing:
    """A server that is read: its host, what there is to say of it, and how far it is behind the
    primary, in bytes of the log and seconds; None where that is not known. `reason` is for the
    operator alone.
    """

    host: str
    level: Literal["ok", "warning", "wrong"]
    message: str
    remedy: str = ""
    reason: str = ""
    lag_bytes: int | None = None
    lag_seconds: float | None = None

    @property
    def finding(self) -> Finding:
        """What the operator is told."""
        message = f"{self.host} {self.message}"
        return Finding("replica", self.level, f"{message} {self.reason}".rstrip(), self.remedy)

    def public(self, nth: int) -> Finding:
        """What everybody may know: it has no name, and without it the primary answers."""
        level: Literal["ok", "warning"] = "ok" if self.level == "ok" else "warning"
        return Finding("replica", level, f"Replica {nth} {self.message}")


@dataclass(frozen=True, slots=True)
class _State:
    system: int
    started: object
    follows: bool
    position: int
    seconds: float | None


def standings(url: str, read_url: str) -> list[Standing]:
    """Ask the primary and each server that is read, all of these at a time."""
    try:
        primary = _state(url)
    except DatabaseError:
        primary = None
    servers = [*servers_of(read_url)]
    with ThreadPoolExecutor(len(servers)) as threads:
        return [*threads.map(partial(_standing, primary), servers)]


def _state(url: str) -> _State:
    with translated_errors(), connect(url) as connection:
        [row] = connection.execute(_STATE).fetchall()
        system, started, follows, position, seconds = row
        return _State(system, started, follows, int(position), seconds)


def _standing(primary: _State | None, server: tuple[str, str]) -> Standing:
    host, url = server
    try:
        state = _state(url)
        status = schema.status(url)
    except DatabaseError as error:
        return Standing(
            host, "warning", "does not answer.", "Others are read meanwhile.", error.message
        )
    if primary is not None and state.system != primary.system:
        return Standing(
            host, "wrong", "is no copy of the server of PGRAG_DATABASE_URL.",
            "Name only its standbys in PGRAG_READ_URL.",
        )  # fmt: skip
    if status.state != "current":
        return Standing(
            host, "warning", "has another schema, so the primary is read.",
            "Run `pgrag db upgrade` on the primary, and let the standby follow.", status.message,
        )  # fmt: skip
    if primary is None:
        return Standing(host, "ok", "answers, without a primary to compare it with.")
    if not state.follows and state.started != primary.started:
        return Standing(
            host, "wrong", "has been promoted, and does not follow the primary.",
            "Point PGRAG_DATABASE_URL at the server that is the primary now, and stop the other.",
        )  # fmt: skip
    # The primary was asked first: what it had written by then should be there.
    behind = max(0, primary.position - state.position)
    seconds = (state.seconds or 0.0) if behind else 0.0
    is_late = seconds > LATE_SECONDS
    return Standing(
        host,
        "warning" if is_late else "ok",
        f"follows, {behind:,} bytes and {seconds:.1f} seconds behind the primary."
        if state.follows
        else "is the primary.",
        "Look at its log, its disk and its network." if is_late else "",
        lag_bytes=behind,
        lag_seconds=seconds,
    )
