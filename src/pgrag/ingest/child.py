"""Run functions in a child process, so that a crash of a parser costs a page and not a service."""

import contextlib
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from threading import Timer
from typing import Any, ParamSpec, Self, TypeVar

from pgrag.errors import PgragError, SourceError

#: Seconds after which a call is given up and its process killed.
CALL_SECONDS = 300.0

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


class Child:
    """One child process, started by the first call and again after a crash. A context manager.

    It is a new interpreter, not a fork: a service has threads.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(
        self,
        function: Callable[_Arguments, _Result],
        *arguments: _Arguments.args,
        **options: _Arguments.kwargs,
    ) -> _Result:
        """Call a function of a module; the first argument names what it reads.

        Raises the function's `PgragError`, and SourceError if it fails otherwise, crashes or does
        not end in `CALL_SECONDS`.
        """
        process = self._process = self._process or _started()
        timer = Timer(CALL_SECONDS, process.kill)
        timer.start()
        try:
            pickle.dump((function, arguments, options), process.stdin)  # type: ignore[arg-type]
            process.stdin.flush()  # type: ignore[union-attr]
            result, error = pickle.load(process.stdout)  # type: ignore[arg-type]
        except (OSError, EOFError, pickle.UnpicklingError) as problem:
            ending = _ending(process) if timer.is_alive() else f"took {CALL_SECONDS:.0f} seconds"
            self.close()
            raise SourceError(f"{arguments[0]}: cannot be read: its parser {ending}.") from problem
        finally:
            timer.cancel()
        if error is None:
            return result  # type: ignore[no-any-return]
        if isinstance(error, PgragError):
            raise error
        raise SourceError(f"{arguments[0]}: cannot be read: {error}.")

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            with contextlib.suppress(BrokenPipeError):
                self._process.communicate()
            self._process.wait()
            self._process = None


def _started() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


def _ending(process: subprocess.Popen[bytes]) -> str:
    """Say how a process ended that has closed its pipe."""
    try:
        status = process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        return "does not answer"
    return f"crashed ({signal.Signals(-status).name})" if status < 0 else f"ended with {status}"


def main() -> None:
    """Answer calls until the parent closes its end of the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the parent
    requests = sys.stdin.buffer
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as answers:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what is printed is no answer
        with contextlib.suppress(EOFError, BrokenPipeError):
            while True:
                pickle.dump(_answer(*pickle.load(requests)), answers)
                answers.flush()


def _answer(
    function: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]
) -> tuple[Any, PgragError | str | None]:
    try:
        return function(*arguments, **options), None
    except PgragError as error:
        return None, error
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    main()
