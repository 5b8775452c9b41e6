"""What a model behind an endpoint is for, in the words of its errors."""

from __future__ import annotations

from dataclasses import dataclass

import httpx

from pgrag.errors import PgragError, SettingsError


@dataclass(frozen=True, slots=True)
class Service:
    """What an endpoint is for, in the words of its errors.

    `name`: such as "embedding"; `variables`: how its settings begin, "PGRAG_EMBEDDING"; `error`:
    what is raised when it fails; `address`: where its address ends; `example`: one as it should
    be; `demands`: what else of a request a server may refuse; `size`: what there may be less of;
    `broken_off`: what is raised when a stream ends before its end.
    """

    name: str
    variables: str
    error: type[PgragError]
    address: str
    example: str
    demands: str
    size: str = "the batch size"
    broken_off: type[PgragError] = PgragError

    def hint(self, status: int) -> str:
        """Say what to do about a status."""
        demands = f"Check the model's name, {self.demands} and {self.size}."
        key = f"Check {self.variables}_API_KEY."
        return {
            400: demands,
            401: key,
            403: key,
            404: f"Check {self.variables}_URL and {self.variables}_MODEL.",
            413: f"Lower {self.size}.",
            422: demands,
            429: f"Lower the concurrency or {self.size}, or try again later.",
        }.get(status, "The server's own log may say more.")


def http_url(url: str, service: Service) -> httpx.URL:
    """Check the address of a service. Raises `SettingsError` that says how one should be."""
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        parsed = httpx.URL("")
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise SettingsError(
            f"The URL of the {service.name} endpoint is not an http or https address.",
            hint=f"Set {service.variables}_URL to one like {service.example}.",
        )
    return parsed


def printable(api_key: str | None, service: Service) -> str:
    """Check the key of a service, "" for none. Raises `SettingsError` where no header takes it."""
    key = (api_key or "").strip()
    if not (key.isascii() and key.isprintable()):
        raise SettingsError(
            f"The key of the {service.name} endpoint holds characters that no header can carry.",
            hint=f"Check {service.variables}_API_KEY.",
        )
    return key
