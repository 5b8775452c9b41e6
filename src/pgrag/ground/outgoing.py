"""HTTP to addresses that a request names, if the allow-list has them. A connection goes to an
address that was checked, so neither DNS nor redirects lead past the list. Addresses in settings are
not checked: the operator chose them.
"""

import logging
import math
import socket
import ssl
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from email.utils import parsedate_to_datetime
from fnmatch import fnmatchcase
from http.cookiejar import CookieJar, DefaultCookiePolicy
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

import httpcore
import httpx

from pgrag.ground.errors import ForbiddenAddress
from pgrag.ground.scoped import holding
from pgrag.ground.settings import Settings

log = logging.getLogger(__name__)

Address = IPv4Address | IPv6Address
#: Returns the addresses of a name, in the order in which to try them. Raises OSError.
Resolve = Callable[[str, int], Sequence[Address]]

#: Returns the seconds that a request may still take; raises an error to end it.
SecondsLeft = Callable[[], float]
_seconds_left: ContextVar[SecondsLeft | None] = ContextVar("seconds_left", default=None)

#: Seconds that a request waits for its server before it asks again whether it may go on.
_STEP = 0.5
#: Seconds in which a server must accept a connection.
_CONNECTING = 10.0

PUBLIC = "public"
"""The entry of an allow-list that stands for all public addresses."""

PRIVATE = "private"
"""The entry that stands for this machine and the private networks around it."""

_METADATA = frozenset(
    ip_address(address)
    for address in (
        "169.254.169.254",  # most clouds
        "fd00:ec2::254",  # AWS
        "100.100.100.200",  # Alibaba
        "168.63.129.16",  # Azure; looks public
        "192.0.0.192",  # Oracle
    )
)
"""Addresses at which a cloud hands out credentials to whoever asks from its machine."""

_PRIVATE = tuple(
    ip_network(network)
    for network in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")
)
"""Networks of an organisation or a provider, where a listed name may lead."""

_UNICAST = ip_network("2000::/3")
_NOT_PUBLIC = tuple(
    ip_network(network)
    for network in (
        "192.88.99.0/24",  # relays of 6to4
        "2001::/23",  # protocols, such as Teredo, which embeds IPv4 addresses
        "2002::/16",  # 6to4, likewise
        "3fff::/20",  # documentation
    )
)
_ISATAP = (0x00005EFE, 0x02005EFE)
"""The middle of an address that embeds an IPv4 address in its last 32 bits (RFC 5214)."""


class AllowList:
    """Which addresses may be reached; see the setting PGRAG_OUTGOING_ALLOW. An entry is `public`,
    `private`, a network, or a name, in which `*` stands for any characters. `private` is this
    machine and private networks. A name may lead to public addresses and to private networks, but
    not to this machine, its link, or the metadata of a cloud: only a network allows the last two.
    """

    def __init__(self, entries: Iterable[str]) -> None:
        self._networks = []
        self._names = []
        listed = frozenset(entries)
        self._allows_public = PUBLIC in listed
        self._allows_private = PRIVATE in listed
        for entry in sorted(listed - {PUBLIC, PRIVATE}):
            try:
                self._networks.append(ip_network(entry))
            except ValueError:
                self._names.append(entry)

    def allows(self, host: str, address: Address) -> bool:
        """Whether a connection to this address may be made for a host of this name."""
        if any(address in network for network in self._networks):
            return True
        if is_public(address):
            return self._allows_public or self._names_host(host)
        if self._allows_private and (address.is_loopback or _is_private(address)):
            return True
        return _is_private(address) and self._names_host(host)

    def _names_host(self, host: str) -> bool:
        name = host.lower().rstrip(".")
        return not _is_literal(name) and any(fnmatchcase(name, entry) for entry in self._names)


def allow_list(settings: Settings, *, allow_private: bool = False) -> AllowList:
    """Return the operator's list, with `private` if the operator allows it, or `allow_private`."""
    private = (PRIVATE,) if allow_private or settings.allow_private else ()
    return AllowList((*settings.outgoing_allow, *private))


def reachable_addresses(
    allowed: AllowList, host: str, port: int, resolve: Resolve | None = None
) -> list[Address]:
    """Return the addresses that may be reached. Raises OSError if none exists, ForbiddenAddress."""
    addresses = (resolve or _resolved)(host, port)
    reachable = [address for address in addresses if allowed.allows(host, address)]
    if not reachable:
        # The addresses would tell a caller about networks that are not public.
        log.info("%s is forbidden: it leads to %s", host, ", ".join(map(str, addresses)))
        raise ForbiddenAddress(
            f"{host} leads to no address that may be reached from here.",
            hint="PGRAG_OUTGOING_ALLOW lists what may be: public addresses, unless it is set.",
        )
    return reachable


def is_public(address: Address) -> bool:
    """Whether an address is public, and of no kind that embeds an IPv4 address."""
    if address in _METADATA or any(address in network for network in _NOT_PUBLIC):
        return False
    if isinstance(address, IPv6Address):
        middle = int(address) >> 32 & 0xFFFFFFFF
        return address in _UNICAST and address.is_global and middle not in _ISATAP
    return address.is_global and not address.is_multicast


def guarded_client(
    settings: Settings,
    *,
    headers: Mapping[str, str] | None = None,
    timeout: float = 30.0,
    follow_redirects: bool = False,
    allow_private: bool = False,
    resolve: Resolve | None = None,
) -> httpx.Client:
    """Make a client for http and https addresses that somebody else names. `timeout` is the longest
    silence in seconds; see `watched` for the time of a whole request. Proxies of the environment
    are not used: they would resolve the names again. Cookies are not kept. See `allow_list` for
    `allow_private`. `resolve` replaces DNS. Requests raise `ForbiddenAddress` for what the
    allow-list does not have, also in a redirect, and the errors of httpx.
    """
    return httpx.Client(
        headers=headers,
        timeout=httpx.Timeout(timeout, connect=min(timeout, _CONNECTING)),
        follow_redirects=follow_redirects,
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        trust_env=False,
        transport=_Transport(
            allow_list(settings, allow_private=allow_private), resolve or _resolved
        ),
    )


def watched(seconds_left: SecondsLeft) -> AbstractContextManager[object]:
    """Let `seconds_left`, called at each wait of this thread's requests, end them by raising."""
    return holding(_seconds_left, seconds_left)


def retry_after(value: str) -> float | None:
    """Return the seconds that a Retry-After header asks for, as a number or a date; else None."""
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None


def _shortest(timeout: float | None) -> float | None:
    """Return the time that is left of a request, if that is shorter."""
    seconds_left = _seconds_left.get()
    if seconds_left is None:
        return timeout
    return min(seconds_left(), math.inf if timeout is None else timeout)


class _Transport(httpx.HTTPTransport):
    """The transport of httpx with connections of its own; pools, TLS and errors stay httpx's."""

    def __init__(self, allowed: AllowList, resolve: Resolve) -> None:
        # Certificates of the environment (SSL_CERT_FILE) are trusted, its proxies are not.
        certificates = httpx.create_ssl_context()
        super().__init__(verify=certificates, trust_env=False)
        self._pool = httpcore.ConnectionPool(
            ssl_context=certificates, network_backend=_Network(allowed, resolve)
        )


class _Network(httpcore.SyncBackend):
    """Connects to addresses that were checked; the names stay in Host and in TLS."""

    def __init__(self, allowed: AllowList, resolve: Resolve) -> None:
        self._allowed = allowed
        self._resolve = resolve

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to the first address of a host that is allowed and answers."""
        try:
            allowed = reachable_addresses(self._allowed, host, port, self._resolve)
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(f"{host} has no address: {error}") from error
        connect = super().connect_tcp
        for address in allowed[:-1]:
            try:
                return _Stream(
                    connect(str(address), port, _shortest(timeout), local_address, socket_options)
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                log.debug("%s does not answer at %s", host, address)
        return _Stream(
            connect(str(allowed[-1]), port, _shortest(timeout), local_address, socket_options)
        )

    def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Refuse."""
        raise ForbiddenAddress(f"{path} is not an address of a network.")


class _Stream(httpcore.NetworkStream):
    """A connection that waits for its server only as long as `watched` lets it."""

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read what has come, or comes within `timeout` seconds."""
        until = time.monotonic() + (math.inf if timeout is None else timeout)
        while True:
            try:
                left = max(until - time.monotonic(), 0.001)
                return self._stream.read(max_bytes, _shortest(min(left, _STEP)))
            except httpcore.ReadTimeout:
                if time.monotonic() >= until:
                    raise

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send all of the bytes."""
        self._stream.write(buffer, _shortest(timeout))

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        """Return the same connection, encrypted."""
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, _shortest(timeout)))

    def get_extra_info(self, info: str) -> Any:
        """Return what httpcore asks of a connection."""
        return self._stream.get_extra_info(info)


def _resolved(host: str, port: int) -> list[Address]:
    listed = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [ip_address(address[0]) for *_, address in listed]


def _is_private(address: Address) -> bool:
    return address not in _METADATA and any(address in network for network in _PRIVATE)


def _is_literal(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
