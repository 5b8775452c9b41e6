"""Why a request to an endpoint failed, what to do about it, and whether to ask again."""

from __future__ import annotations

import email.utils
import time
from dataclasses import dataclass

import httpx

from pgrag.endpoint.service import Service


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an attempt failed; `wait` is the server's own wish, in seconds.

    `refusal`: what the server said about a payload that it does not take.
    """

    reason: str
    hint: str
    may_recover: bool = True
    wait: float = 0.0
    refusal: str | None = None


def silence(
    service: Service, error: httpx.RequestError, timeout: float, *, is_patient: bool = True
) -> Failure:
    """Say why there was no answer; `timeout`: the seconds that it was waited for."""
    is_connected = not isinstance(error, httpx.ConnectTimeout)
    if isinstance(error, httpx.TimeoutException) and is_connected:
        return Failure(
            f"did not answer within {timeout:g} s",
            f"Check that the server is up; raise the timeout or lower {service.size}.",
            may_recover=is_patient,
        )
    return Failure(
        f"cannot be reached ({error or type(error).__name__})",
        f"Check {service.variables}_URL and that the server is up.",
    )


def refusal(
    service: Service, response: httpx.Response, excerpt: str, *, longest_wait: float
) -> Failure:
    """Say what the server had against the request; `excerpt`: its words without secrets."""
    status = response.status_code
    wait = _retry_after(response)
    asked = f", asking to wait {wait:.0f} s" if wait else ""
    return Failure(
        f"answered with status {status}{asked}: {excerpt}",
        service.hint(status),
        may_recover=(status in {408, 429} or status >= 500) and wait <= longest_wait,
        wait=wait,
        refusal=response.text if status in {400, 422} else None,
    )


def _retry_after(response: httpx.Response) -> float:
    """Return the seconds that the server asks to wait, as a number or a date; 0 if it does not."""
    value = response.headers.get("Retry-After", "")
    if value.isdecimal():
        return float(value)
    try:
        moment = email.utils.parsedate_to_datetime(value)
    except ValueError:
        return 0.0
    return max(0.0, moment.timestamp() - time.time())
