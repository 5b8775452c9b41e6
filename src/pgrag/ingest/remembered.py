"""The options of a run: what the caller says, else what the version remembers of earlier runs."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, replace
from typing import Any

from pgrag.ground.errors import InvalidInput
from pgrag.ingest.arguments import Reading, part_of
from pgrag.ingest.page import PageOptions
from pgrag.ingest.source.generators import Generator
from pgrag.ingest.values import CHUNK_PROFILES, ChunkProfile


def options_of(arguments: Mapping[str, Any]) -> PageOptions:
    """Return the options among `arguments`. Raises InvalidInput for wrong sizes."""
    options = part_of(arguments, Reading)
    name, sizes = options.pop("profile", None), options.pop("chunk_sizes", None)
    if sizes is None:
        return PageOptions(**options, profile=CHUNK_PROFILES[name] if name else name)
    profile = CHUNK_PROFILES[name or "medium"]
    try:
        minimum, preferred, maximum = sizes
        custom = ChunkProfile("custom", minimum, preferred, maximum, profile.by_meaning)
    except ValueError as error:
        raise InvalidInput(
            f"chunk_sizes must be three increasing numbers, not {sizes!r}.",
            hint="Such as 150, 900, 1200; the last at least twice the first, and at least 80.",
        ) from error
    return PageOptions(**options, profile=custom)


def complete(
    options: PageOptions,
    remembered: Mapping[str, Any] | None,
    guess: Callable[[], Generator | None],
) -> tuple[PageOptions, Generator | None]:
    """Fill in the options that are None from an earlier run; "" is the default. `guess` finds the
    generator if the slug style is not known.
    """
    memory = remembered or {}

    def known(name: str) -> Any:
        value = getattr(options, name)
        return memory.get(name) if value is None else value

    profile = options.profile
    if profile is None and (stored := memory.get("chunk_profile")):
        sizes = {field.name for field in fields(ChunkProfile)}
        profile = ChunkProfile(**{name: stored[name] for name in sizes & set(stored)})
    slugs = known("slugs")
    generator = None if slugs else guess()
    completed = replace(
        options,
        base_url=known("base_url") or "",
        language=known("language") or None,
        profile=profile or None,
        slugs=slugs or (generator.style if generator else "github"),
        converter=known("converter") or None,
    )
    return completed, generator


def describe(options: PageOptions) -> dict[str, Any]:
    """The options as a version stores them."""
    return {
        "base_url": options.base_url,
        "language": options.language,
        "chunk_profile": asdict(options.profile) if options.profile else None,
        "slugs": options.slugs,
        "converter": options.converter,
    }


def changes(remembered: Mapping[str, Any] | None, options: PageOptions, pages: int) -> list[str]:
    """Describe what differs from the options of the last run, and what that rewrites."""
    if not remembered or not pages:
        return []
    number = f"{pages:,} page{'s' if pages > 1 else ''}"
    effects = {
        "base_url": ("base URL", f"rewrites the URLs of {number}"),
        "language": ("language", f"reads {number} again"),
        "chunk_profile": ("profile", f"cuts {number} again"),
        "slugs": ("slug style", f"rewrites the anchors of {number}"),
        "converter": ("converter", "reads PDF files again"),
    }
    before = {"slugs": "github", **remembered}
    return [
        f"{effects[name][0]}: {_shown(before.get(name))} → {_shown(value)}; {effects[name][1]}"
        for name, value in describe(options).items()
        if (before.get(name) or None) != (value or None)
    ]


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return str(value["name"])
    return value or "none"
