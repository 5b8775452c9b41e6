"""Addresses of a site: one spelling for each, which belong to it, and the keys of their pages."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import SplitResult, quote, unquote, urljoin, urlsplit

from pgrag.ground.hosts import ascii_host
from pgrag.ingest.globs import matcher

#: Longer addresses are made by programs, and are no keys in the database.
LONGEST = 1500
#: Why an address of another version than the crawled one is not visited.
OTHER_VERSION = "of another version of the site"
FOLDER_PAGE = "index.html"

_PORTS = {"http": 80, "https": 443}
#: Parameters that identify a visit, not a page.
_OF_A_VISIT = re.compile(
    r"(?:utm_\w+|gclid|fbclid|msclkid|mc_[ce]id|_ga|s?sid|session_?id|phpsessid|jsessionid"
    r"|aspsessionid\w*|cfid|cftoken)",
    re.IGNORECASE,
)
_SESSION_IN_PATH = re.compile(r";jsessionid=[^/?]*", re.IGNORECASE)
_SLASH = re.compile("%2F", re.IGNORECASE)
#: What some servers take for the end of a folder's name.
_SEPARATOR = re.compile("/|%2F|%5C")
_SUFFIX = re.compile(r"\.[a-z][a-z0-9]{1,5}$", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_VERSION = re.compile(r"v?\d+(?:\.(?:\d+|x)){0,3}(?:[.-]?(?:a|b|rc|alpha|beta|dev)\.?\d*)?")
_NAMED_VERSIONS = frozenset({"stable", "latest", "current", "main", "master", "next", "dev"})


def normalised(address: str, base: str = "") -> str | None:
    """Return the one spelling of an http address, without fragment or visit."""
    try:
        parts = urlsplit(urljoin(base, _CONTROL.sub("", address.strip())))
        if parts.scheme not in _PORTS or not parts.hostname:
            return None
        path = _SESSION_IN_PATH.sub("", parts.path) or "/"
        path = _resolved("%2F".join(map(_spelled, _SLASH.split(path))))
        if not {".", ".."}.isdisjoint(_SEPARATOR.split(path)):
            return None
        query = "&".join(
            each
            for each in parts.query.split("&")
            if each and not _OF_A_VISIT.fullmatch(each.partition("=")[0])
        )
        query = quote(query, safe="/:@!$&'()*+,;=~-._?%")
        url = SplitResult(parts.scheme, _authority(parts), path, query, "").geturl()
    except ValueError:
        return None
    return url if len(url) <= LONGEST else None


def _spelled(path: str) -> str:
    """Write a path with as few percent signs as possible, so that it has one spelling."""
    letters = unquote(path, errors="surrogateescape")
    return quote(letters, safe="/:@!$&'()*+,;=~-._", errors="surrogateescape")


def _resolved(path: str) -> str:
    """Return a path without dot segments (RFC 3986, 5.2.4), which `urljoin` leaves in some."""
    segments: list[str] = []
    for segment in path.split("/")[1:]:
        if segment == "..":
            segments[-1:] = []
        elif segment != ".":
            segments.append(segment)
    is_folder = path.endswith(("/.", "/.."))
    return "/" + "/".join([*segments, ""] if is_folder and segments else segments)


def _authority(parts: SplitResult) -> str:
    host = ascii_host(parts.hostname or "")
    host = f"[{host}]" if ":" in host else host
    return host if parts.port in (None, _PORTS[parts.scheme]) else f"{host}:{parts.port}"


@dataclass(frozen=True, slots=True)
class Scope:
    """The part of a site below a prefix; `is_wanted` tells which keys the globs leave."""

    prefix: str
    is_wanted: Callable[[str], bool]

    @classmethod
    def around(
        cls, start: str, include: tuple[str, ...] = (), exclude: tuple[str, ...] = ()
    ) -> "Scope":
        """Return the scope of a start page: its folder; a name without a suffix is a folder."""
        parts = urlsplit(start)
        origin = f"{parts.scheme}://{parts.netloc}"
        return cls(f"{origin}{_folder(parts.path)}", matcher(include, exclude))

    @property
    def origin(self) -> str:
        """Scheme and host of the site."""
        return "/".join(self.prefix.split("/", 3)[:3])

    def is_of_site(self, url: str) -> bool:
        """Whether an address has the scheme and host of the site."""
        return url.startswith(f"{self.origin}/")

    def own(self, url: str) -> str:
        """Return the address with the scheme of the site, if the host is the site's."""
        other = "http" if self.prefix.startswith("https:") else "https"
        rest = url.removeprefix(f"{other}://{self.origin.partition('://')[2]}/")
        return url if rest == url else f"{self.origin}/{rest}"

    def has(self, url: str) -> bool:
        """Whether an address is the prefix, with or without its last slash, or below it."""
        return url.startswith(self.prefix) or url.partition("?")[0] == self.prefix[:-1]

    def key(self, url: str) -> str:
        """Return the key of the page at an address: its path below the prefix."""
        path, mark, query = url.removeprefix(self.prefix[:-1]).partition("?")
        name = unquote(path.removeprefix("/"), errors="backslashreplace")
        if not name or name.endswith("/"):
            name += FOLDER_PAGE
        return _CONTROL.sub("", name) + (mark + query if query else "")

    @property
    def versions(self) -> str:
        """The address below which the site's versions are, if the prefix is that of a version."""
        version = _version_segment(self.prefix)
        return self.prefix[: self.prefix.rindex(f"/{version}/") + 1] if version else ""

    def other_version(self, url: str) -> str:
        """Return the version of an address outside the prefix, if it is another one; else ""."""
        if not self.versions or not url.startswith(self.versions):
            return ""
        segment = url.removeprefix(self.versions).partition("/")[0]
        version = _version_segment(f"{self.versions}{segment}/")
        return version if version != _version_segment(self.prefix) else ""

    def refusal(self, url: str) -> str | None:
        """Return why an address is not visited, or None."""
        if not self.has(url):
            return OTHER_VERSION if self.other_version(url) else f"outside {self.prefix}"
        return None if self.is_wanted(self.key(url)) else "left out by include and exclude"


def _folder(path: str) -> str:
    folder, _, name = path.rpartition("/")
    is_file = _SUFFIX.search(name) and not _VERSION.fullmatch(name.lower())
    return f"{folder}/{name}/" if name and not is_file else f"{folder}/"


def version_of(address: str) -> str:
    """Return the version that an address names in its path, such as /en/stable/ or /docs/4.2/."""
    segment = _version_segment(address).lower()
    return segment.removeprefix("v") if _VERSION.fullmatch(segment) else segment


def _version_segment(address: str) -> str:
    """Return the folder of an address that is a version: the last with a number, else a name."""
    segments = _folder(urlsplit(address).path).split("/")
    numbered = (each for each in reversed(segments) if _VERSION.fullmatch(each.lower()))
    named = (each for each in segments if each.lower() in _NAMED_VERSIONS)
    return next(numbered, None) or next(named, "")
