"""The HNSW indexes of a model: always there, but put off while much is loaded."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from pgrag.db import Database, Row, Work, as_service, working
from pgrag.errors import Busy

#: So long a build waits for sessions that have begun before it, such as a backup.
PATIENCE = "30s"
#: Fewer new vectors are inserted: a build has fixed costs.
LEAST_VECTORS = 200
_WEEK = 7 * 24 * 3600.0
#: A build keeps its connection for minutes, while the run uses those of the pool.
_BUILD = Work("build", 4, statement_timeout=_WEEK, lock_timeout=_WEEK)
#: Seconds until a run looks again whether the build of another one has ended.
_PAUSE = 0.2


@dataclass(slots=True)
class VectorIndex:
    """The indexes of a model that one run writes to; to be closed at its end.

    They are the index that libraries share, and that of the library alone if it is large; see
    `pgrag.place_vectors`. `expect` drops the one that gets the vectors if that saves time and no
    search needs it; see `pgrag.put_off_vector_index`. From then until `build` has made it again the
    run holds a lock, by which others leave the index to it. The lock of a run that was killed is
    gone with it, so the next run builds the index.
    """

    _database: Database
    _model: str
    _library: str
    _expected: int = field(default=0, init=False)
    #: Whose index has the vectors; None: that of all others.
    _owner: str | None = field(default=None, init=False)
    #: The locks of the indexes that are put off, by their owners.
    _held: dict[str | None, ExitStack] = field(default_factory=dict, init=False)

    def expect(self, vectors: int, in_all: int = 0) -> None:
        """Say how many vectors are about to be stored, in addition to those said before.

        `in_all` is what is expected of the rest of the run, these included, if that is known.
        """
        stored = self._expected
        self._expected += vectors
        if self._expected < LEAST_VECTORS:
            return
        if self._owner is None:
            self.place(max(vectors, in_all))
        if self._owner in self._held:
            return
        with as_service():
            [row] = self._database.call(
                "put_off_vector_index",
                model=self._model,
                expected=self._expected,
                stored=stored,
                library=self._owner,
            )
            if row["put_off_vector_index"]:
                self._lock(self._owner)

    def place(self, expected: int = 0) -> None:
        """Move the vectors of the library to the index where they belong by their number."""
        with as_service():
            [row] = self._database.call("place_vectors", library=self._library, expected=expected)
        self._owner = self._library if row["place_vectors"] else None

    def build(self) -> bool:
        """Build the indexes if they are missing; returns whether one was built.

        Blocks neither readers nor writers, and replaces what a build that was killed left
        unfinished. Does nothing if another run has put off the index or builds it, or unless the
        role owns the table, and leaves the index to the next run if other sessions take too long.
        """
        with as_service(), working(_BUILD):
            # The shared one too: it may be missing since another run was killed.
            built = [self._build(owner) for owner in dict.fromkeys((self._owner, None))]
            return any(built)

    def close(self) -> None:
        """Leave the indexes to others, built or not."""
        for owner in [*self._held]:
            self._release(owner)

    def _build(self, owner: str | None) -> bool:
        state = self._state(owner)
        is_needed = not state["valid"] or state["unused_statements"]
        if not is_needed or not (owner in self._held or self._lock(owner)):
            return False
        try:
            with self._alone():
                # Somebody may have built it before the lock was taken.
                return self._build_missing(self._state(owner))
        except Busy:
            return False
        finally:
            self._release(owner)

    def _build_missing(self, state: Row) -> bool:
        if not state["may_build"]:
            return False
        with self._database.connection() as connection:
            try:
                connection.execute(f"set lock_timeout = '{PATIENCE}'")
                for statement in state["unused_statements"]:
                    connection.execute(statement)
                if state["valid"]:
                    return False
                connection.execute(f"set maintenance_work_mem = '{state['memory']}'")
                if state["valid"] is False:
                    connection.execute(state["drop_statement"])
                connection.execute(state["create_statement"])
            finally:
                connection.execute("reset maintenance_work_mem")
                connection.execute("reset lock_timeout")
        return True

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Wait until no other run builds an index: two builds would wait for each other."""
        while True:
            with self._database.lock("pgrag vector index build") as taken:
                if taken is None:
                    yield
                    return
            time.sleep(_PAUSE)

    def _state(self, owner: str | None) -> Row:
        [state] = self._database.call("vector_index_state", model=self._model, library=owner)
        return state

    def _lock(self, owner: str | None) -> bool:
        """Take the lock of an index, unless another session has it.

        Never waits: "create index concurrently" waits for sessions that wait, a deadlock.
        """
        held = ExitStack()
        lock = self._database.lock(self._state(owner)["lock"])
        is_taken = held.enter_context(lock) is None
        if is_taken:
            self._held[owner] = held
        else:
            held.close()
        return is_taken

    def _release(self, owner: str | None) -> None:
        self._held.pop(owner, ExitStack()).close()
