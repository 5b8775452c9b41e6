"""Sources of manual pages (man and mdoc): mandoc makes HTML of them, else groff makes text."""

import re
import shutil
import subprocess
import tempfile
import zlib
from collections.abc import Sequence

from pgrag.ground.errors import SourceError
from pgrag.ingest.child import seconds_left
from pgrag.ingest.formats.converted import Converted
from pgrag.ingest.formats.decoding import decode
from pgrag.ingest.formats.html import page
from pgrag.ingest.formats.loss import count_words
from pgrag.ingest.formats.manual import manual_blocks, without_margins
from pgrag.ingest.values import Origin

try:
    import resource
except ModuleNotFoundError:  # Windows
    resource = None  # type: ignore[assignment]

_IS_MANUAL = re.compile(rb"^[.'][ \t]*(?:TH|Dd|Sh|SH)\b", re.MULTILINE)
_INSTEAD = re.compile(r"(?:[.']\\\".*\n|\s*\n)*\.so[ \t]+(\S+)")
#: Programs read the words of a request as requests again, in a time that grows with the square.
_LONGEST_REQUEST = 5000
_LONG_REQUEST = re.compile(rf"^[.'].{{{_LONGEST_REQUEST}}}", re.MULTILINE)
_SECONDS = 30
_MOST_BYTES = 50_000_000
#: The part of an answer that mandoc writes around the text: title and date, as head and foot.
_MARGINS = re.compile(
    r"<(table|div) class=\"(?:head|foot)\"[^>]*>.*?</\1>", re.DOTALL | re.IGNORECASE
)


def convert(key: str, data: bytes, origin: Origin) -> Converted:
    """Read a manual page. Raises SourceError if it is none, or if no program can read it."""
    data = _unpacked(key, data)
    text, warnings = decode(key, data, origin)
    if instead := _INSTEAD.match(text):
        name = instead[1].rpartition("/")[2]
        markdown = f"See [{name}]({name}).\n"
        return Converted(markdown, tuple(warnings), words=count_words(name, markdown))
    if not _IS_MANUAL.search(data):
        raise SourceError(
            f"{key}: is named like a manual page, but has none of its requests (.TH, .Dd, .SH).",
            hint="Leave it out with --exclude, or give it the suffix .txt.",
        )
    if _LONG_REQUEST.search(text):
        raise SourceError(
            f"{key}: has a request of more than {_LONGEST_REQUEST:,} characters.",
            hint="Break its line.",
        )
    source = text.encode()
    if program := shutil.which("mandoc"):
        html = _run(key, [program, "-K", "utf-8", "-T", "html"], source)
        converted = page.convert(key, _content(html), origin)
        printed = _run(key, [program, "-K", "utf-8", "-T", "utf8"], source)
        _, shown = without_margins(re.sub(".\x08", "", printed))
        words = count_words(shown, converted.markdown)
        return Converted(converted.markdown, (*warnings, *converted.warnings), words=words)
    if program := shutil.which("groff"):
        command = [program, "-S", "-k", "-mandoc", "-t", "-Tutf8", "-P-c", "-P-b", "-P-o", "-P-u"]
        title, plain = without_margins(_run(key, command, source))
        markdown = "\n\n".join(manual_blocks(title, plain)) + "\n"
        return Converted(markdown, tuple(warnings), words=count_words(plain, markdown))
    raise SourceError(
        f"{key}: is the source of a manual page, which mandoc or groff must read.",
        hint="Install the package mandoc or groff, or write the page as text: man x > x.txt.",
    )


def _unpacked(key: str, data: bytes) -> bytes:
    if not data.startswith(b"\x1f\x8b"):
        return data
    reader = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        plain = reader.decompress(data, _MOST_BYTES)
    except zlib.error as error:
        raise SourceError(f"{key}: is damaged: it cannot be unpacked.") from error
    if reader.unconsumed_tail or not reader.eof:
        raise SourceError(f"{key}: is cut off, or unpacks to more than {_MOST_BYTES:,} bytes.")
    return plain


def _run(key: str, command: Sequence[str], source: bytes) -> str:
    """Run a program in an empty folder, so that no file that a page names is found. A page can be a
    loop: the time of the program follows its size, and what it may write is limited.
    """
    seconds = max(1, int(seconds_left(_SECONDS)))
    is_over = SourceError(
        f"{key}: takes {command[0]} more than {seconds} s, or becomes more than {_MOST_BYTES:,}"
        " bytes.",
        hint="Look for macros that call themselves.",
    )

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_FSIZE, (_MOST_BYTES, _MOST_BYTES))

    try:
        with tempfile.TemporaryFile() as output, tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                command,
                input=source,
                stdout=output,
                stderr=subprocess.DEVNULL,
                timeout=_SECONDS,
                cwd=folder,
                check=False,
                preexec_fn=limit if resource else None,
            )
            output.seek(0)
            written = output.read()
    except (subprocess.TimeoutExpired, OSError) as error:
        raise is_over from error
    if done.returncode < 0 or len(written) >= _MOST_BYTES:
        raise is_over
    if not written.strip():
        raise SourceError(f"{key}: {command[0]} makes nothing of it.")
    return written.decode(errors="replace")


def _content(html: str) -> bytes:
    """Return the body of mandoc's page without head and foot, its name as the title."""
    title = re.search(r"<title>([^<]*)</title>", html)
    body = html.partition("<body>")[2].rpartition("</body>")[0]
    name = f"<h1>{title[1]}</h1>" if title else ""
    shown = re.sub(r"<(/?)h([12])\b", _lower, _MARGINS.sub("", body))
    head = f"<head>{title[0]}</head>" if title else ""
    return f"<html>{head}<body><main>{name}{shown}</main></body></html>".encode()


def _lower(match: re.Match[str]) -> str:
    return f"<{match[1]}h{int(match[2]) + 1}"
