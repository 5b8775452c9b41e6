"""The HNSW indexes of a model: always there, but put off while much is loaded."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from pgrag.ground.callers import Work, as_service, working
from pgrag.ground.calls import Row
from pgrag.ground.connections import Database
from pgrag.ground.errors import Busy, DatabaseError

#: How long a build waits for older sessions, such as a backup.
PATIENCE = "30s"
#: Fewer new vectors are inserted: a build has fixed costs.
LEAST_VECTORS = 200
_WEEK = 7 * 24 * 3600.0
#: A build keeps its connection for minutes, while the run uses those of the pool.
_BUILD = Work("build", 4, statement_timeout=_WEEK, lock_timeout=_WEEK)
#: Seconds between checks whether another run's build has ended, and the longest wait.
_PAUSE = 0.2
_LONGEST_WAIT = 3600.0


#: The models that have vectors of a library.
_MODELS = """
select m.name
from pgrag.embedding_models as m
join pgrag.libraries as l on l.name = lower(btrim(%s))
cross join lateral (
    select
    from pgrag.embeddings as e
    where e.library_id = l.library_id and e.model_id = m.model_id
    limit 1
) as any_vector
"""


@dataclass(frozen=True, slots=True)
class _Index:
    model: str
    library: str | None


@dataclass(slots=True)
class VectorIndex:
    """The indexes to which one run writes the vectors of a model; to be closed at its end. `expect`
    drops the one that gets the vectors if that saves time; until `build` the run holds a lock, and
    other runs leave the index to it.
    """

    _database: Database
    _model: str
    _library: str
    _expected: int = field(default=0, init=False)
    _is_large: bool = field(default=False, init=False)
    #: The locks of the indexes that are put off or built.
    _held: dict[_Index, ExitStack] = field(default_factory=dict, init=False)

    def expect(self, vectors: int, passages: int = 0) -> None:
        """Announce vectors to be stored; `passages` are those that the rest of the run will add."""
        stored = self._expected
        self._expected += vectors
        if self._expected < LEAST_VECTORS:
            return
        if not self._is_large:
            self._place(passages)
        if self._current in self._held:
            return
        with as_service():
            [row] = self._database.call(
                "put_off_vector_index",
                model=self._model,
                expected=self._expected,
                stored=stored,
                library=self._current.library,
            )
            if row["put_off_vector_index"]:
                self._lock(self._current)

    def place(self) -> None:
        """Move the vectors of the library to the index that its size requires."""
        # They cannot be taken back while the lock of their own index is held.
        self._release(_Index(self._model, self._library))
        self._place(0)

    def build(self) -> bool:
        """Build the indexes if they are missing, without blocking; return whether one was built.
        Leaves it to the next run if this one may not, or others take too long.
        """
        with as_service(), working(_BUILD):
            # The shared one too: it may be missing since another run was killed.
            indexes = [_Index(self._model, None)]
            if self._is_large:
                models = self._database.query(_MODELS, [self._library])
                indexes += [_Index(row["name"], self._library) for row in models]
            built = [self._build(index) for index in reversed(indexes)]
            return any(built)

    def close(self) -> None:
        """Leave the indexes to others, built or not."""
        for index in [*self._held]:
            self._release(index)

    @property
    def _current(self) -> _Index:
        return _Index(self._model, self._library if self._is_large else None)

    def _place(self, passages: int) -> None:
        with as_service(), working(_BUILD):
            [row] = self._database.call("place_vectors", library=self._library, expected=passages)
        self._is_large = row["place_vectors"]

    def _build(self, index: _Index) -> bool:
        # What another run has dropped is that run's to build. Who adds a page waits for no build.
        is_own = index.library is not None and self._expected >= LEAST_VECTORS
        patience = _LONGEST_WAIT if is_own or index in self._held else 0.0
        if self._state(index)["valid"] or not (index in self._held or self._lock(index)):
            return False
        try:
            with self._alone(patience):
                # Somebody may have built it before the lock was taken.
                return self._build_missing(self._state(index))
        except DatabaseError as error:
            # What the server has built for a run that was killed may become valid at this moment.
            if isinstance(error, Busy) or "tuple concurrently updated" in error.message:
                return False
            raise
        finally:
            self._release(index)

    def _build_missing(self, state: Row) -> bool:
        if state["valid"] or not state["may_build"]:
            return False
        dropped = [state["drop_statement"]] if state["valid"] is False else []
        self._database.run_alone(
            *dropped,
            state["create_statement"],
            maintenance_work_mem=state["memory"],
            lock_timeout=PATIENCE,
        )
        return True

    @contextmanager
    def _alone(self, patience: float) -> Iterator[None]:
        """Wait until no other run builds an index: two would wait for each other."""
        deadline = time.monotonic() + patience
        while True:
            with self._database.lock("pgrag vector index build") as taken:
                if taken is None:
                    yield
                    return
            if time.monotonic() >= deadline:
                break
            time.sleep(_PAUSE)
        raise Busy("Other runs are building vector indexes.")

    def _state(self, index: _Index) -> Row:
        [state] = self._database.call(
            "vector_index_state", model=index.model, library=index.library
        )
        return state

    def _lock(self, index: _Index) -> bool:
        """Take the lock of an index, unless another session has it. Never waits: "create index
        concurrently" waits for sessions that wait, a deadlock.
        """
        held = ExitStack()
        lock = self._database.lock(self._state(index)["lock"])
        is_taken = held.enter_context(lock) is None
        if is_taken:
            self._held[index] = held
        else:
            held.close()
        return is_taken

    def _release(self, index: _Index) -> None:
        self._held.pop(index, ExitStack()).close()
