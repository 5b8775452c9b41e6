"""The service behind an endpoint: what its settings must be, why it fails, and what helps."""

from dataclasses import dataclass

import httpx

from pgrag.ground.errors import PgragError, SettingsError, reason
from pgrag.ground.outgoing import retry_after


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an attempt failed; `wait` is the server's `Retry-After`, in seconds. `refusal`: the
    server's message about a payload that it does not accept.
    """

    reason: str
    hint: str
    may_recover: bool = True
    wait: float = 0.0
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class Service:
    """The purpose of an endpoint, as its error messages describe it. `name`: such as "embedding";
    `variables`: prefix of its settings, "PGRAG_EMBEDDING"; `error`: raised when it fails; `path`:
    added to its address, which ends at `address`; `example`: a correct address; `demands`: further
    reasons for a refusal; `size`: the quantity to lower; `broken_off`: raised when a stream ends
    early.
    """

    name: str
    variables: str
    error: type[PgragError]
    path: str
    address: str
    example: str
    demands: str
    size: str = "the batch size"
    broken_off: type[PgragError] = PgragError

    def http_url(self, url: str) -> httpx.URL:
        """Check the address, and add the path before the parameters. Raises `SettingsError`."""
        base, mark, parameters = url.strip().partition("?")
        base = base.rstrip("/").removesuffix(self.path)
        try:
            parsed = httpx.URL(f"{base}{self.path}{mark}{parameters}")
        except httpx.InvalidURL:
            parsed = httpx.URL("")
        if parsed.scheme not in {"http", "https"} or not parsed.host:
            raise SettingsError(
                f"The URL of the {self.name} endpoint is not an http or https address.",
                hint=f"Set {self.variables}_URL to one like {self.example}.",
            )
        return parsed

    def printable(self, api_key: str | None) -> str:
        """Check the key, "" for none. Raises `SettingsError` if no header can carry it."""
        key = (api_key or "").strip()
        if not (key.isascii() and key.isprintable()):
            raise SettingsError(
                f"The key of the {self.name} endpoint holds characters that no header can carry.",
                hint=f"Check {self.variables}_API_KEY.",
            )
        return key

    def silence(
        self, error: httpx.RequestError, timeout: float, *, is_patient: bool = True
    ) -> Failure:
        """Describe a missing response, after `timeout` seconds."""
        is_connected = not isinstance(error, httpx.ConnectTimeout)
        if isinstance(error, httpx.TimeoutException) and is_connected:
            return Failure(
                f"did not answer within {timeout:g} s",
                f"Check that the server is up; raise the timeout or lower {self.size}.",
                may_recover=is_patient,
            )
        return Failure(
            f"cannot be reached ({reason(error)})",
            f"Check {self.variables}_URL and that the server is up.",
        )

    def refusal(self, response: httpx.Response, excerpt: str, *, longest_wait: float) -> Failure:
        """Describe a refused request; `excerpt`: the server's message without secrets."""
        status = response.status_code
        wait = retry_after(response.headers.get("Retry-After", "")) or 0.0
        request = f", asking to wait {wait:.0f} s" if wait else ""
        return Failure(
            f"answered with status {status}{request}: {excerpt}",
            self._hint(status),
            may_recover=(status in {408, 429} or status >= 500) and wait <= longest_wait,
            wait=wait,
            refusal=response.text if status in {400, 422} else None,
        )

    def _hint(self, status: int) -> str:
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
