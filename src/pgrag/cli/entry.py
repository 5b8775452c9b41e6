"""The single entry of all commands, and their single exit. What most runs do not need is imported
where it is used: it takes longer than what they do.
"""

import gc
import io
import os
import sys


def main() -> None:
    """Run; exit status 0: success, 1: failure or findings, 2: wrong usage, 130: interrupted."""
    # Imports create many objects that stay: scanning them for garbage takes a tenth of a command.
    gc.set_threshold(50_000)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # "?" for characters that the locale lacks
    try:
        try:
            _run(sys.argv[1:])
        finally:
            sys.stdout.flush()  # a full disk is told here, not by Python at exit
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # The reader has closed the output.
        _give_up_output()
        sys.exit(1)
    except Exception as error:
        _fail(error, *_explained(error))


def _run(words: list[str]) -> None:
    if words == ["--version"]:
        from pgrag.cli.version import version

        print(f"pgrag {version()}")
        return
    from pgrag.cli import quick, texts

    if quick.ran(words):
        return
    if not texts.is_styled(sys.stdout):
        texts.be_plain()
    from pgrag.cli.program import program

    program(words or _completed())(prog_name="pgrag")


def _explained(error: Exception) -> tuple[str, str | None]:
    """Return the message for an error and the remedy."""
    from pgrag.ground.errors import PgragError, disk_full, reason

    if isinstance(error, PgragError):
        from pgrag.cli.notations import as_options

        return as_options(error.message), error.hint and as_options(error.hint)
    if full := disk_full(error):
        _give_up_output()
        return full.message, full.hint
    return f"Unexpected error: {reason(error)}.", "Set PGRAG_LOG_LEVEL=debug to see where."


def _give_up_output() -> None:
    """Let nothing more be written to stdout, not even at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _completed() -> list[str]:
    """Return the words so far if a shell asks how to complete them."""
    words = os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS") or ""
    return words.split()[1:] if "_PGRAG_COMPLETE" in os.environ else []


def _fail(error: Exception, message: str, hint: str | None) -> None:
    import logging

    from pgrag.cli.output import complain

    logging.getLogger(__name__).debug("the command failed", exc_info=error)
    complain(message, hint)
    sys.exit(1)
