"""Addresses that somebody else names, over real sockets of loopback.

127.0.0.1 is the machine that must not be reached; 127.0.0.2, which the allow-list has, stands for
the internet.
"""

import shlex
import socket
import ssl
import subprocess
from ipaddress import ip_address

import httpx
import pytest
from website import Reply, Website

from pgrag.ground.errors import EmbeddingError, ForbiddenAddress
from pgrag.ground.outgoing import AllowList, guarded_client, is_public
from pgrag.ground.settings import Settings
from pgrag.models.embedding import OpenAIEmbedder

INSIDE, OUTSIDE = "127.0.0.1", "127.0.0.2"
SETTINGS = Settings(outgoing_allow=("public", f"{OUTSIDE}/32"))


def site(address, port=0):
    return Website({}, otherwise=Reply("page"), address=(address, port))


def away(to):
    return Reply("page", 302, {"Location": to})


@pytest.fixture
def outside():
    try:
        opened = site(OUTSIDE)
    except OSError:
        pytest.skip("loopback has one address only here")
    with opened:
        yield opened


@pytest.fixture
def inside(outside):
    """A site on the same port, so that only the address decides which of both is asked."""
    with site(INSIDE, outside.port) as opened:
        yield opened


def answers(*addresses):
    """A resolver that gives the next address each time, as a rebinding name server does."""
    left = [ip_address(address) for address in addresses]
    return lambda host, port: [left.pop(0)]


def test_a_name_that_is_rebound_is_refused(outside, inside):
    resolve = answers(OUTSIDE, INSIDE, OUTSIDE)
    with guarded_client(SETTINGS, resolve=resolve, headers={"Connection": "close"}) as client:
        url = f"http://docs.example:{outside.port}/"
        assert client.get(url).text == "page"
        with pytest.raises(ForbiddenAddress, match=r"^docs\.example leads to no address") as told:
            client.get(url)
        assert client.get(url).text == "page"
    assert INSIDE not in str(told.value), "the caller learns no address of the network"
    assert outside.hosts == [f"docs.example:{outside.port}"] * 2, "Host is the name"
    assert inside.asked == []


def test_a_connection_goes_to_the_address_that_was_checked(outside, inside, monkeypatch):
    """Whoever asks again after the check would get the other address."""
    resolve = answers(OUTSIDE)
    real, asked = socket.getaddrinfo, []

    def rebound(host, *arguments, **options):
        asked.append(host)
        return real(INSIDE if host == "docs.example" else host, *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", rebound)
    with guarded_client(SETTINGS, resolve=resolve) as client:
        client.get(f"http://docs.example:{outside.port}/")
    assert "docs.example" not in asked
    assert (len(outside.asked), inside.asked) == (1, [])
    with guarded_client(SETTINGS) as client, pytest.raises(ForbiddenAddress):
        client.get(f"http://docs.example:{outside.port}/")


def test_only_allowed_addresses_are_tried_and_the_next_if_one_does_not_answer(outside, inside):
    both = [ip_address(INSIDE), ip_address("::1"), ip_address(OUTSIDE)]
    with guarded_client(SETTINGS, resolve=lambda *_: both) as client:
        assert client.get(f"http://docs.example:{outside.port}/").text == "page"
    assert inside.asked == []
    settings = Settings(outgoing_allow=("127.0.0.0/8",))
    both = [ip_address("127.0.0.3"), ip_address(OUTSIDE)]
    with guarded_client(settings, resolve=lambda *_: both) as client:
        assert client.get(f"http://docs.example:{outside.port}/").text == "page"
        with pytest.raises(httpx.ConnectError):
            client.get(f"http://docs.example:{1}/")


@pytest.mark.parametrize("host", [INSIDE, "localhost", "[::ffff:127.0.0.1]", "2130706433", "127.1"])
def test_redirects_are_checked_again(outside, inside, host):
    outside.pages["/away"] = away(f"http://{host}:{inside.port}/secret")
    outside.pages["/on"] = away("/page")
    with guarded_client(SETTINGS, follow_redirects=True) as client:
        assert client.get(f"http://{OUTSIDE}:{outside.port}/on").url.path == "/page"
        with pytest.raises(ForbiddenAddress):
            client.get(f"http://{OUTSIDE}:{outside.port}/away")
    assert inside.asked == []


def test_proxies_of_the_environment_are_not_used(outside, inside, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://{INSIDE}:{inside.port}")
    with guarded_client(SETTINGS) as client:
        client.get(f"http://{OUTSIDE}:{outside.port}/")
    assert (len(outside.asked), inside.asked) == (1, [])


def test_other_protocols_and_names_without_an_address_are_errors():
    with guarded_client(SETTINGS) as client:
        for url in ("file:///etc/passwd", "ftp://127.0.0.2/", "gopher://127.0.0.2/"):
            with pytest.raises(httpx.UnsupportedProtocol):
                client.get(url)
        for host in ("nothing.invalid", "a" * 64 + ".example", "a..b"):
            with pytest.raises((httpx.ConnectError, httpx.InvalidURL)):
                client.get(f"http://{host}/")


def test_certificates_are_those_of_the_name(outside, tmp_path, monkeypatch):
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    make = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
        f" -subj /CN=docs.example -addext subjectAltName=DNS:docs.example"
        f" -keyout {key} -out {certificate}"
    )
    subprocess.run(shlex.split(make), check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    names = []
    context.sni_callback = lambda _, name, __: names.append(name)
    outside.server.socket = context.wrap_socket(outside.server.socket, server_side=True)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with guarded_client(SETTINGS, resolve=lambda *_: [ip_address(OUTSIDE)]) as client:
        assert client.get(f"https://docs.example:{outside.port}/").text == "page"
        with pytest.raises(httpx.ConnectError, match="certificate"):
            client.get(f"https://other.example:{outside.port}/")
    assert names == ["docs.example", "other.example"]


REFUSED = [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1",
    "127.255.255.254", "168.63.129.16", "169.254.0.1", "169.254.169.254", "172.16.0.1",
    "172.31.255.254", "192.0.0.1", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.0.1",
    "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.1.1.1", "240.0.0.1",
    "255.255.255.255", "::", "::1", "::8.8.8.8", "::ffff:8.8.8.8", "::ffff:127.0.0.1",
    "::ffff:0:8.8.8.8", "64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::a00:1", "100::1",
    "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:db8::1", "2002:7f00:1::",
    "2002:808:808::1", "3fff::1", "5f00::1", "2600::5efe:a00:1", "2600::200:5efe:a00:1", "fc00::1",
    "fd00:ec2::254", "fe80::1", "fe80::1%1", "fec0::1", "ff02::1",
]  # fmt: skip
ACCEPTED = [
    "8.8.8.8", "1.1.1.1", "100.128.0.1", "172.32.0.1", "192.0.1.1", "2600::1",
    "2a00:1450:4001::200e",
]  # fmt: skip


@pytest.mark.parametrize("address", [*REFUSED, *ACCEPTED])
def test_only_what_is_public_is_accepted(address):
    assert is_public(ip_address(address)) is (address in ACCEPTED)
    assert AllowList(["public"]).allows("docs.example", ip_address(address)) is (
        address in ACCEPTED
    )
    assert not AllowList([]).allows("docs.example", ip_address(address))


@pytest.mark.parametrize(("entries", "host", "address", "is_allowed"), [
    # a network, whatever the name
    (["10.0.0.0/8"], "any.example", "10.1.2.3", True),
    (["10.0.0.0/8"], "any.example", "192.168.0.1", False),
    (["10.0.0.0/8"], "any.example", "8.8.8.8", False),
    (["10.0.0.0/8"], "any.example", "::ffff:10.1.2.3", False),
    (["fd00::/8"], "any.example", "fd12::1", True),
    (["169.254.169.254/32"], "any.example", "169.254.169.254", True),
    # a name may lead into private networks, but not to this machine or to metadata
    (["docs.intern"], "docs.intern", "10.1.2.3", True),
    (["docs.intern"], "Docs.Intern.", "fd12::1", True),
    (["docs.intern"], "docs.intern", "8.8.8.8", True),
    (["docs.intern"], "other.intern", "8.8.8.8", False),
    (["docs.intern"], "docs.intern", "127.0.0.1", False),
    (["docs.intern"], "docs.intern", "::1", False),
    (["docs.intern"], "docs.intern", "169.254.169.254", False),
    (["docs.intern"], "docs.intern", "fd00:ec2::254", False),
    (["docs.intern"], "docs.intern", "100.100.100.200", False),
    (["*.intern"], "docs.intern", "10.1.2.3", True),
    (["*.intern"], "intern", "10.1.2.3", False),
    (["*.intern"], "docs.intern.evil.example", "10.1.2.3", False),
    # an address is not a name
    (["*"], "10.1.2.3", "10.1.2.3", False),
    (["*"], "any.example", "10.1.2.3", True),
])  # fmt: skip
def test_networks_and_names(entries, host, address, is_allowed):
    assert AllowList(entries).allows(host, ip_address(address)) is is_allowed


def test_addresses_of_settings_are_the_operators_own(inside):
    """A model may run on this machine, whatever requests may name; it redirects to nobody."""
    assert Settings().outgoing_allow == ("public",)
    inside.pages["/v1/embeddings"] = away(f"http://{INSIDE}:{inside.port}/secret")
    url = f"http://{INSIDE}:{inside.port}/v1"
    with (
        OpenAIEmbedder(url=url, model="tiny", retries=0) as embedder,
        pytest.raises(EmbeddingError, match="status 302"),
    ):
        embedder.embed_query("rope")
    assert inside.asked == ["/v1/embeddings"]
