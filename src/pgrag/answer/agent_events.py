"""The agentic mode as a stream of events: its loop runs in a thread and tells what it does."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeAlias

from pgrag.answer.agent import AgentOutcome
from pgrag.answer.stopping import StopSwitch
from pgrag.answer.values import AnswerEvent

Tell: TypeAlias = Callable[[str, dict[str, Any]], None]


def events_of(
    run: Callable[[Tell], AgentOutcome], switch: StopSwitch
) -> Generator[AnswerEvent | AgentOutcome, None, None]:
    """Yield what a run tells while it lasts, then its outcome; raise what it raises.

    `run` takes the function that it tells events to. Whoever closes this early stops it; the thread
    has ended by then.
    """
    told: SimpleQueue[AnswerEvent | AgentOutcome | None] = SimpleQueue()
    failures: list[BaseException] = []

    def work() -> None:
        try:
            told.put(run(lambda name, data: told.put(AnswerEvent(name, plain(data)))))
        except BaseException as error:
            failures.append(error)
        told.put(None)

    thread = Thread(target=work, name="pgrag-agent", daemon=True)
    thread.start()
    try:
        while (item := told.get()) is not None:
            yield item
    except BaseException:
        switch.stop()
        raise
    finally:
        thread.join()
    for failure in failures:
        raise failure


def plain(value: Any) -> Any:
    """Return a value as JSON has it: ids of searches become text."""
    return json.loads(json.dumps(value, default=str))
