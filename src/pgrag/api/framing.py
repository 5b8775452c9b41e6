"""The framing of requests as RFC 9112 has it. h11 also takes what old clients send, and where two
readers of one connection disagree, one request hides in another.
"""

import re
from collections.abc import Sequence
from typing import Any

import h11
from h11._receivebuffer import ReceiveBuffer

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY"})
"""TRACE and QUERY are known, so that they are refused as methods that no address supports."""

_HOST = re.compile(rb"(?:\[[0-9A-Fa-f:.]+\]|(?:[\w.~!$&'()*+;=-]|%[0-9A-Fa-f]{2})+)(?::\d{0,5})?")
_ABSOLUTE = re.compile(rb"(?i)https?://([^/?#]*)([^#]*)")
_TOKEN = rb"[-!#$%&'*+.^_`|~0-9A-Za-z]+"
_QUOTED = rb'"(?:[\t !#-\[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*"'
_CHUNK = re.compile(
    rb"[0-9A-Fa-f]{1,16}(?:[ \t]*;[ \t]*%b(?:[ \t]*=[ \t]*(?:%b|%b))?)*\r\n"
    % (_TOKEN, _TOKEN, _QUOTED)
)
LONGEST_HEAD = 16_384
"""Bytes of the request line and the headers."""

_BYTES = re.compile(r"(?:bytearray\()?\bb('[^']*'|\"[^\"]*\")\)?")

_LONGEST_CHUNK_LINE = 4096
_MOST_DIGITS = 18


class _Fault(h11.RemoteProtocolError):
    """What is wrong with a request, in words for its sender."""

    def __init__(self, detail: str, status: int = 400) -> None:
        super().__init__(detail, error_status_hint=status)


class _Lines(ReceiveBuffer):
    """What has been received, in lines that end with CR LF and go on in no other line."""

    reads_head = True

    def maybe_extract_lines(self) -> list[bytearray] | None:
        """The lines of a head, or of the trailers of a chunked body, once they are all there."""
        if self.reads_head and self._data[:2] == b"\r\n":
            # Old clients end a body with one that does not count (RFC 9112, 2.2).
            super().maybe_extract_lines()
        size = len(self)
        lines = super().maybe_extract_lines()
        if len(self) > LONGEST_HEAD if lines is None else size - len(self) > LONGEST_HEAD:
            line = bytes(self) if lines is None else lines[0]
            if len(line.partition(b"\n")[0]) < LONGEST_HEAD:
                raise _Fault("The headers of the request are too long.", 431)
            raise _Fault("The address of the request is too long.", 414)
        if lines is None:
            return None
        if size - len(self) != sum(len(line) + 2 for line in lines) + 2:
            raise _Fault("A line of the request does not end with CR LF.")
        for line in lines:
            if b"\r" in line:
                raise _Fault("A line of the request has a CR that does not end it.")
            if line.startswith((b" ", b"\t")):
                raise _Fault("A line of the request begins with a blank.")
        if self.reads_head:
            _check_framing(lines)
        return lines

    def maybe_extract_next_line(self) -> bytearray | None:
        """The line before a chunk."""
        line = super().maybe_extract_next_line()
        if len(self if line is None else line) > _LONGEST_CHUNK_LINE:
            raise _Fault("The line before a chunk of the body is too long.")
        if line is not None and not _CHUNK.fullmatch(line):
            raise _Fault("The line before a chunk of the body is not the size of a chunk.")
        return line


class Connection(h11.Connection):
    """The server's side of a connection. `fault`: the status of a refusal, and its reason."""

    _receive_buffer: _Lines

    def __init__(self) -> None:
        super().__init__(h11.SERVER)
        self._receive_buffer = _Lines()
        self.fault: tuple[int, str] | None = None

    def next_event(self) -> Any:
        """The next event. Raises `RemoteProtocolError` and sets `fault`."""
        lines = self._receive_buffer
        lines.reads_head = self.their_state is h11.IDLE
        try:
            event = super().next_event()
            return _checked(event) if isinstance(event, h11.Request) else event
        except h11.RemoteProtocolError as error:
            # h11 shows the bytes that it read as Python writes them.
            shown = _BYTES.sub(r"\1", str(error))
            said = shown if isinstance(error, _Fault) else f"It is not HTTP/1.1: {shown}."
            self.fault = error.error_status_hint, said
            raise


def _check_framing(lines: Sequence[bytes | bytearray]) -> None:
    """Refuse a head by which two readers may see the end of the body in different places."""
    fields = [(line.partition(b":")[0].lower(), line.partition(b":")[2]) for line in lines[1:]]
    lengths = [value.strip(b" \t") for name, value in fields if name == b"content-length"]
    codings = [value for name, value in fields if name == b"transfer-encoding"]
    if lengths and codings:
        raise _Fault("The request has both Content-Length and Transfer-Encoding.")
    if len(lengths) > 1:
        raise _Fault("The request has more than one header Content-Length.")
    if lengths and (not lengths[0].isdigit() or len(lengths[0]) > _MOST_DIGITS):
        raise _Fault("The header Content-Length is not a number of bytes.")
    if codings and lines[0].endswith(b"/1.0"):
        raise _Fault("Transfer-Encoding is of HTTP/1.1, the request of HTTP/1.0.")
    names = [name.strip(b" \t").lower() for value in codings for name in value.split(b",")]
    if codings and (names.count(b"chunked") != 1 or names[-1] != b"chunked"):
        raise _Fault("The Transfer-Encoding of the request does not end with chunked.")
    if len(names) > 1:
        raise _Fault("The only Transfer-Encoding that the service reads is chunked.", 501)


def _checked(request: h11.Request) -> h11.Request:
    """The request, with a target that begins with a slash. Raises `_Fault`."""
    version, method = request.http_version, request.method.decode()
    if version[:1] != b"1":
        raise _Fault("The service speaks HTTP/1.1.", 505)
    hosts = [value for name, value in request.headers if name == b"host"]
    if len(hosts) != 1 and version != b"1.0":
        raise _Fault("A request has one header Host.")
    if not all(map(_HOST.fullmatch, hosts)):
        raise _Fault("The header Host is not a name or an address, with or without a port.")
    if method not in METHODS:
        raise _Fault(f"There is no method {method} here.", 501)
    target = request.target
    if (target[:1] == b"/" and b"#" not in target) or (method, target) == ("OPTIONS", b"*"):
        return request
    absolute = _ABSOLUTE.fullmatch(target)
    if absolute is None or not _HOST.fullmatch(absolute[1]):
        raise _Fault("The address of the request does not begin with a slash, or has a fragment.")
    # Host is ignored then (RFC 9112, 3.2.2).
    others = [each for each in request.headers.raw_items() if each[0].lower() != b"host"]
    path = absolute[2] if absolute[2][:1] == b"/" else b"/" + absolute[2]
    return h11.Request(
        method=request.method,
        target=path,
        headers=[(b"Host", absolute[1]), *others],
        http_version=version,
    )
