"""The addresses that programs pass: of databases and of services."""

from pydantic import SecretStr

from pgrag.ground.calls import require_texts
from pgrag.ground.errors import InvalidInput
from pgrag.ground.settings import checked_database_url, checked_http_url, masked_url


def is_service(url: str) -> bool:
    """Whether an address is that of a service, not of a database."""
    return url.strip().lower().startswith(("http://", "https://"))


def database_url(url: str) -> SecretStr:
    """The address of a database. Raises `InvalidInput`, without the password."""
    require_texts(url=url)
    if is_service(url):
        raise InvalidInput(
            f"{masked_url(url)} is the address of a service, not of a database.",
            hint="Use pgrag.connect_service(url, key).",
        )
    try:
        return checked_database_url(SecretStr(url))
    except ValueError as error:
        raise InvalidInput(f"The url of a database {error}, not {masked_url(url)!r}.") from None


def service_url(url: str) -> str:
    """The address below which a service has its routes. Raises `InvalidInput`."""
    require_texts(url=url)
    try:
        return f"{checked_http_url(url).rstrip('/').removesuffix('/v1')}/v1"
    except ValueError:
        raise InvalidInput(
            f"The url of a service must be like http://127.0.0.1:8000, not {masked_url(url)!r}."
        ) from None


def service_key(key: str) -> str:
    """The key of a service, as a header carries it. Raises `InvalidInput`, without the key."""
    require_texts(key=key)
    if not (key.isascii() and key.strip().isprintable()):
        raise InvalidInput(
            "The key holds characters that no header can carry.",
            hint="A key is one word that begins with pgrag_.",
        )
    return key.strip()
