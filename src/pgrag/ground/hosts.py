"""Hosts of addresses, in the one spelling that is checked, resolved and connected to."""

import re
import socket
from ipaddress import IPv6Address

_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)", re.ASCII)
_LONGEST = 253
_NUMBER = re.compile(r"\d+|0x[0-9a-f]*", re.ASCII)


def ascii_host(host: str) -> str:
    """Return a host as browsers read it: in ASCII by UTS 46 and IDNA 2008, in lower case, without
    a final dot, and IP addresses in their usual form. A resolver that did this by itself, or by
    IDNA 2003, could reach another host than the one that was checked. Raises ValueError.
    """
    if ":" in host:
        # A zone names a network interface of this machine.
        if "%" in host:
            raise ValueError(f"{host!r} has a zone")
        return str(IPv6Address(host))
    name = (host if host.isascii() else _mapped(host)).lower().removesuffix(".")
    labels = name.split(".")
    if len(name) > _LONGEST or not all(map(_LABEL.fullmatch, labels)):
        raise ValueError(f"{host!r} is not the name of a host")
    if _NUMBER.fullmatch(labels[-1]):
        try:
            return socket.inet_ntoa(socket.inet_aton(name))
        except OSError:
            raise ValueError(f"{host!r} is not an address of IPv4") from None
    return name


def _mapped(host: str) -> str:
    import idna  # noqa: PLC0415 - it takes 10 ms, and few hosts need it

    try:
        return idna.encode(host, uts46=True).decode("ascii")
    except UnicodeError as error:
        raise ValueError(f"{host!r} is not the name of a host: {error}") from None
