"""Sends the raw requests of Http11Probe (https://github.com/MDA2AV/Http11Probe) to a service, and
compares the statuses with those that its cases expect.

    git clone https://github.com/MDA2AV/Http11Probe
    pgrag serve --port 8000
    python -m benchmarks.http_probe Http11Probe 127.0.0.1:8000

Cases whose requests are made by a program are left out and counted, and of answers only the status
and the end of the connection are judged. Exits with 1 if a case that must hold does not.
"""

import re
import socket
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_SECONDS = 0.7
#: The request was read, and the address refuses it: the suite has a server that echoes everything.
_OF_THE_ADDRESS = {307, 404, 405, 413, 415, 421}
_ESCAPE = re.compile(r'\\(r|n|t|0|"|\\|x[0-9a-fA-F]{1,4}|u[0-9a-fA-F]{4})')
_CONTROL = {"r": "\r", "n": "\n", "t": "\t", "0": "\0", '"': '"', "\\": "\\"}


@dataclass(frozen=True, slots=True)
class Case:
    """A request, what its sender wants, and whether the RFCs demand that (Must) or advise it.

    `request` is None if a program makes it.
    """

    name: str
    wanted: str
    level: str
    request: bytes | None

    def holds(self, statuses: list[int], *, is_closed: bool) -> bool:
        """Whether this is what is wanted. 1xx and what follows a refusal do not count."""
        final = next((status for status in statuses if status >= 200), None)
        if final is None:
            return bool(re.search("(?i)close|drop" if is_closed else "timeout", self.wanted))
        if re.match(r"!|non-", self.wanted):
            return str(final) not in self.wanted
        if final in _OF_THE_ADDRESS and re.search(
            r"2xx|204|timeout|pass-through|warn", self.wanted
        ):
            return True
        allowed = re.findall(r"\b\d(?:\d\d|xx)\b", self.wanted) or ["4xx"]
        return any(re.fullmatch(each.replace("x", r"\d"), str(final)) for each in allowed)


def cases(folder: Path, host: str) -> Iterator[Case]:
    """Yield the cases of the suites in a checkout."""
    for suite in sorted((folder / "src/Http11Probe/TestCases/Suites").glob("*Suite.cs")):
        for block in suite.read_text("utf-8").split("yield return new ")[1:]:
            named = re.search(r'Id = "([^"]+)"', block)
            wanted = re.search(
                r'Expected = new ExpectedBehavior\s*\{\s*Description = "([^"]+)"', block
            )
            status = re.search(r"StatusCodeRange\.(?:Exact\((\d+)\)|Range(\dxx))", block)
            level = re.search(r"RfcLevel = RfcLevel\.(\w+)", block)
            made = re.search(r'MakeRequest\(\s*\$?"((?:[^"\\]|\\.)*)"\s*\)', block)
            text = (
                wanted[1] if wanted else " ".join(filter(None, status.groups() if status else ()))
            )
            if "AllowConnectionClose = true" in block:
                text += " or close"
            if named and text:
                yield Case(
                    named[1], text, level[1] if level else "Must", made and _bytes(made[1], host)
                )


def _bytes(literal: str, host: str) -> bytes | None:
    """The bytes of an interpolated string of C#; None if it calls something."""
    name, _, port = host.rpartition(":")
    known = {"{ctx.HostHeader}": host, "{ctx.Host}": name, "{ctx.Port}": port}
    for each, value in known.items():
        literal = literal.replace(each, value)
    literal = literal.replace("{{", "{").replace("}}", "}")
    if re.search(r"\{[a-zA-Z(]", literal):
        return None
    text = _ESCAPE.sub(lambda found: _CONTROL.get(found[1]) or chr(int(found[1][1:], 16)), literal)
    # The address of its own test servers is the root.
    return re.sub(rb"^([A-Z]+) / ", rb"\1 /healthz ", text.encode("latin-1", "replace"))


def answered(host: str, request: bytes) -> tuple[list[int], bool]:
    """Return the statuses of the answers, and whether the service has closed the connection."""
    name, _, port = host.rpartition(":")
    got = b""
    with socket.create_connection((name, int(port)), timeout=_SECONDS) as client:
        try:
            client.sendall(request)
            while piece := client.recv(65536):
                got += piece
        except TimeoutError:
            return _statuses(got), False
        except OSError:
            pass
    return _statuses(got), True


def _statuses(got: bytes) -> list[int]:
    return [int(status) for status in re.findall(rb"HTTP/1\.[01] (\d{3})", got)]


def main() -> None:
    """Print each case that does not hold, and the counts."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("host", help="such as 127.0.0.1:8000")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    for case in cases(options.folder, options.host):
        if case.request is None:
            counts["left out"] += 1
            continue
        statuses, is_closed = answered(options.host, case.request)
        holds = case.holds(statuses, is_closed=is_closed)
        counts[f"{case.level}: {'held' if holds else 'not held'}"] += 1
        if not holds:
            end = "closed" if is_closed else "open"
            print(f"{case.name:40} {case.level:14} {statuses} {end}, not {case.wanted}")
    print(", ".join(f"{count} × {what}" for what, count in sorted(counts.items())))
    sys.exit(1 if counts["Must: not held"] or not counts else 0)


if __name__ == "__main__":
    main()
