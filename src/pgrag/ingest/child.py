"""Run functions in a child process: a crash of a parser costs one page, not the service."""

import contextlib
import gc
import os
import pickle
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from threading import Timer
from typing import IO, Any, ParamSpec, Self, TypeVar

from pgrag.ground import errors
from pgrag.ground.errors import PgragError, SourceError

try:
    import resource
except ModuleNotFoundError:  # Windows
    resource = None  # type: ignore[assignment]

#: Seconds beyond its limit after which a call ends itself, if its parent is gone.
_GRACE = 2.0
#: By how much its priority is less than that of the parent.
_NICE = 5
#: Shares of the limit that a file may take in processor time: any file, and each megabyte of it.
_SHARE, _SHARE_OF_MEGABYTE = 1 / 120, 1 / 12

#: Bytes of memory that a process has for itself, with all parsers.
_OWN_MEMORY = 200_000_000

#: Classes that every answer may contain; none of them can be altered.
_COMMON = (
    datetime,
    timedelta,
    timezone,
    *(each for each in vars(errors).values() if isinstance(each, type)),
)
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one call: seconds, and bytes of memory beyond those of the program, where the
    system can limit it.
    """

    seconds: float = 120.0
    memory: int | None = None


class Child:
    """One child process, a new interpreter, started by the first call and again after a crash; a
    context manager. An answer may hold builtin types, times, errors and the frozen classes in
    `answers`, so a parser that was taken over runs no code here.
    """

    def __init__(self, limits: Limits = Limits(), answers: Iterable[type] = ()) -> None:
        self._limits = limits
        known = (*_COMMON, *answers)
        self._answers = {(each.__module__, each.__qualname__): each for each in known}
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
        """Call a function of a module; the first argument names what it reads. Raises the
        function's `PgragError`; SourceError if it fails otherwise, crashes or exceeds a limit.
        """
        process = self._process = self._process or _started(self._limits)
        timer = Timer(self._limits.seconds, process.kill)
        timer.start()
        try:
            pickle.dump((function, arguments, options), process.stdin, -1)  # type: ignore[arg-type]
            process.stdin.flush()  # type: ignore[union-attr]
            result, error = _heard(process.stdout, self._answers)  # type: ignore[arg-type]
        except (OSError, EOFError, pickle.UnpicklingError, _Forged) as problem:
            if not timer.is_alive():
                ending = f"took {self._limits.seconds:g} seconds"
            elif isinstance(problem, _Forged):
                ending = "gave an invalid answer"
            else:
                ending = _ending(process)
            self.close()
            raise SourceError(
                f"{arguments[0]}: cannot be read: its parser {ending}.",
                hint="Split it, or raise PGRAG_MAX_PAGE_SECONDS." if "took" in ending else None,
            ) from problem
        finally:
            timer.cancel()
        if error == _too_much(self._limits.memory) or self._is_swollen(process.pid):
            self.close()  # the next call starts anew
        if error is None:
            return result  # type: ignore[no-any-return]
        if isinstance(error, PgragError):
            raise error
        raise SourceError(f"{arguments[0]}: cannot be read: {error}.")

    @property
    def is_running(self) -> bool:
        """Whether there is a process, which the next call needs not start."""
        return self._process is not None

    def _is_swollen(self, pid: int) -> bool:
        """Whether a process keeps much memory of what it has read before."""
        with contextlib.suppress(OSError, ValueError, IndexError):
            pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
            most = _OWN_MEMORY + (self._limits.memory or _OWN_MEMORY) // 2
            return resource is not None and pages * resource.getpagesize() > most
        return False

    def kill(self) -> None:
        """End the process from another thread: the call under way fails, the next starts anew."""
        if (process := self._process) is not None:
            process.kill()

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            with contextlib.suppress(BrokenPipeError):
                self._process.communicate()
            self._process.wait()
            self._process = None


@contextmanager
def bounded(size: int, factor: float = 1.0) -> Iterator[None]:
    """In a call of a child, end the process if a part takes much processor time for so many bytes:
    with the default limit a second, and ten for each megabyte, times `factor`.
    """
    whole = signal.getitimer(signal.ITIMER_PROF)[0] if hasattr(signal, "setitimer") else 0.0
    if not whole:
        yield
        return
    share = factor * (_SHARE + _SHARE_OF_MEGABYTE * size / 1e6)
    signal.setitimer(signal.ITIMER_PROF, min(1.0, share) * whole)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, whole)


def seconds_left(most: float) -> float:
    """Return the processor time that is left to the part of a call that is `bounded`, for a program
    that it starts; `most` outside of a child.
    """
    left = signal.getitimer(signal.ITIMER_PROF)[0] if hasattr(signal, "setitimer") else 0.0
    return min(left or most, most)


class _Forged(Exception):
    """What a process sent is not an answer: its parser may have been taken over."""


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: IO[bytes], classes: dict[tuple[str, str], type]) -> None:
        super().__init__(file)
        self._classes = classes

    def find_class(self, module: str, name: str) -> type:
        """Return a class that answers may have; nothing is imported."""
        if (known := self._classes.get((module, name))) is None:
            raise _Forged(f"{module}.{name}")
        return known


def _heard(
    pipe: IO[bytes], classes: dict[tuple[str, str], type]
) -> tuple[Any, PgragError | str | None]:
    """Return an answer. Raises EOFError or UnpicklingError if the process ends before its end."""
    try:
        result, error = _Unpickler(pipe, classes).load()
    except (OSError, EOFError, pickle.UnpicklingError, _Forged):
        raise
    except Exception as problem:  # anything can come of bytes that are not a pickle
        raise _Forged(str(problem)) from problem
    if not (error is None or isinstance(error, PgragError | str)):
        raise _Forged(type(error).__name__)
    return result, error


def _started(limits: Limits) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", __name__, str(limits.memory or 0), str(limits.seconds)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    with contextlib.suppress(AttributeError, OSError):  # Windows
        # Reading yields to what answers requests.
        os.setpriority(os.PRIO_PROCESS, process.pid, os.getpriority(os.PRIO_PROCESS, 0) + _NICE)
    return process


def _ending(process: subprocess.Popen[bytes]) -> str:
    try:
        status = process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        return "does not answer"
    if hasattr(signal, "SIGPROF") and status == -signal.SIGPROF:
        return "took too long for its size"
    if status < 0:
        return f"crashed ({signal.Signals(-status).name})"
    return f"exited with status {status}"


def main() -> None:
    """Answer calls until the parent closes its end of the pipe."""
    # Reference counts free nearly all of a page's many objects.
    gc.set_threshold(50_000)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the parent
    if hasattr(signal, "SIGALRM"):
        for each in (signal.SIGALRM, signal.SIGPROF):
            signal.signal(each, signal.SIG_DFL)  # what the parent ignores is inherited
    requests = sys.stdin.buffer
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as answers:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what is printed is not an answer
        with contextlib.suppress(EOFError, BrokenPipeError):
            while True:
                answer = _answer(requests, float(sys.argv[2]))
                pickle.dump(answer, answers, pickle.HIGHEST_PROTOCOL)
                answers.flush()
                _limit_time(0)


def _limit_memory(size: int) -> None:
    if size and resource is not None:
        with contextlib.suppress(OSError, ValueError, IndexError):
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            size += pages * resource.getpagesize()
        with contextlib.suppress(OSError, ValueError):  # of macOS, or a lower limit of the parent
            resource.setrlimit(
                resource.RLIMIT_AS, (size, resource.getrlimit(resource.RLIMIT_AS)[1])
            )


def _limit_time(seconds: float) -> None:
    """End this process after some seconds, by signals that no parser can hold up; 0 is never."""
    if hasattr(signal, "setitimer"):  # not on Windows
        signal.setitimer(signal.ITIMER_REAL, seconds and seconds + _GRACE)
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _answer(requests: IO[bytes], seconds: float) -> tuple[Any, PgragError | str | None]:
    try:
        _limit_memory(int(sys.argv[1]))  # beyond what was kept of the calls before
        function, arguments, options = pickle.load(requests)
        _limit_time(seconds)
        return function(*arguments, **options), None
    except EOFError:
        raise
    except PgragError as error:
        return None, error
    except MemoryError:
        return None, _too_much(int(sys.argv[1]))
    except Exception:
        # What a library says is for programmers.
        traceback.print_exc(limit=-3)
        return None, "it is damaged, or uses a feature that cannot be read"


def _too_much(size: int | None) -> str:
    return f"it takes more than {size or 0:,} bytes of memory (PGRAG_MAX_PAGE_MEMORY)"


if __name__ == "__main__":
    main()
