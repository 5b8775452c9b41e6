"""The HNSW index of a model: always there, but put off while much is loaded."""

from contextlib import ExitStack
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


@dataclass(slots=True)
class VectorIndex:
    """The index of a model in one run; to be closed at its end.

    `expect` drops the index if that saves time and no search needs it; see
    `pgrag.put_off_vector_index`. From then until `build` has made it again the run holds a lock, by
    which others leave the index to it. The lock of a run that was killed is gone with it, so the
    next run builds the index.
    """

    _database: Database
    _model: str
    _held: ExitStack = field(default_factory=ExitStack, init=False)
    _expected: int = field(default=0, init=False)
    _is_put_off: bool = field(default=False, init=False)

    def expect(self, vectors: int) -> None:
        """Say how many vectors are about to be stored, in addition to those said before."""
        stored = self._expected
        self._expected += vectors
        if self._is_put_off or self._expected < LEAST_VECTORS:
            return
        with as_service():
            [row] = self._database.call(
                "put_off_vector_index", model=self._model, expected=self._expected, stored=stored
            )
        self._is_put_off = row["put_off_vector_index"] and self._lock()

    def build(self) -> bool:
        """Build the index if it is missing; returns whether it was built.

        Blocks neither readers nor writers, and replaces what a build that was killed left
        unfinished. Does nothing if another run has put off the index or builds it, or unless the
        role owns the table, and leaves the index to the next run if other sessions take too long.
        """
        with as_service(), working(_BUILD):
            if self._state()["valid"] or not (self._is_put_off or self._lock()):
                return False
            try:
                # Somebody may have built it before the lock was taken.
                return self._build_missing()
            except Busy:
                return False
            finally:
                self.close()

    def close(self) -> None:
        """Leave the index to others, built or not."""
        self._held.close()
        self._is_put_off = False

    def _build_missing(self) -> bool:
        state = self._state()
        if state["valid"] or not state["may_build"]:
            return False
        with self._database.connection() as connection:
            try:
                connection.execute(f"set maintenance_work_mem = '{state['memory']}'")
                connection.execute(f"set lock_timeout = '{PATIENCE}'")
                if state["valid"] is False:
                    connection.execute(state["drop_statement"])
                connection.execute(state["create_statement"])
            finally:
                connection.execute("reset maintenance_work_mem")
                connection.execute("reset lock_timeout")
        return True

    def _state(self) -> Row:
        [state] = self._database.call("vector_index_state", model=self._model)
        return state

    def _lock(self) -> bool:
        """Take the lock of the index, unless another session has it.

        Never waits: "create index concurrently" waits for sessions that wait, a deadlock.
        """
        lock = self._database.lock(f"pgrag vector index {self._model}")
        is_taken = self._held.enter_context(lock) is None
        if not is_taken:
            self._held.close()
        return is_taken
