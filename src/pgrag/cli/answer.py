"""`pgrag answer`."""

from __future__ import annotations

import json
from contextlib import closing
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from pgrag.cli import options
from pgrag.cli.arguments import counted, label, parse_filters, parse_levels
from pgrag.cli.output import notice, print_indented, print_json, printable, stderr, stdout, warn
from pgrag.cli.session import opened, say_version

if TYPE_CHECKING:
    from pgrag.answer import Answer, AnswerStream

_INDENT = 5
_SHOWN_SENTENCES = 5

_SPELT = {
    "match_count": "--limit",
    "token_budget": "--tokens",
    "inject_types": "--inject",
    "ask_intent": "--ask-intent",
}
"""Options that are not called as the argument that they give."""


class Mode(StrEnum):
    """Who searches."""

    DIRECT = "direct"
    AGENTIC = "agentic"


def answer(
    question: Annotated[str, typer.Argument(help="What shall be answered.", show_default=False)],
    *,
    library: options.Library = None,
    version: options.Version = None,
    mode: Annotated[
        Mode,
        typer.Option(help="direct: one search; agentic: the language model searches in steps."),
    ] = Mode.DIRECT,
    max_steps: Annotated[
        int | None,
        typer.Option(min=1, max=50, help="Agentic: searches in so many steps; default: 6."),
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(min=1, help="Agentic: tokens read and written at most; default: 30000."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=1, help="Hits at most; default: 10.")
    ] = None,
    token_budget: Annotated[
        int | None,
        typer.Option(
            "--tokens", min=1, help="Sources at most, a token counted as 4 bytes; default: 4000."
        ),
    ] = None,
    expand: Annotated[
        bool | None,
        typer.Option(
            "--expand/--no-expand",
            help="Take in more of the best pages; default: yes.",
            show_default=False,
        ),
    ] = None,
    intent: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="auto: the kind of question chooses what is left open; the name of an intent or"
            " query type; or off. Default: auto.",
        ),
    ] = None,
    ask_intent: Annotated[
        bool | None,
        typer.Option(
            "--ask-intent/--no-ask-intent",
            help="Let the language model name the intent where no rule does; default: the setting.",
            show_default=False,
        ),
    ] = None,
    template: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Template of the prompt; default: the intent's, or agent."
        ),
    ] = None,
    inject_types: Annotated[
        str | None,
        typer.Option(
            "--inject",
            metavar="TYPES",
            help="Types of pages to bring in, with commas; default: the intent's.",
        ),
    ] = None,
    condition: options.Filter = None,
    filters: options.Filters = None,
    alpha: options.Alpha = None,
    levels: options.Levels = None,
    model: options.Model = None,
    graph: options.Graph = None,
    as_json: options.Json = False,
) -> None:
    """Answer a question from the documentation, with the sources that say so.

    Needs a language model: PGRAG_LLM_URL and PGRAG_LLM_MODEL. Exit status 1 means that there is no
    answer.
    """
    name, wanted = options.scope(library, version)
    conditions = parse_filters(condition or (), filters)
    arguments: dict[str, Any] = {
        "library": name,
        "version": wanted,
        "max_steps": max_steps,
        "max_tokens": max_tokens,
        "match_count": limit,
        "token_budget": token_budget,
        "expand": expand,
        "intent": intent,
        "template": template,
        "inject_types": None if inject_types is None else _split(inject_types),
        "filters": conditions,
        "alpha": alpha,
        "levels": parse_levels(levels),
        "model": model,
        "graph": graph,
    }
    _check_mode(mode, {**arguments, "ask_intent": ask_intent or None})
    with opened() as app:
        answerer = app.answering("cli")
        say_version(app, name, wanted, conditions)
        stream = answerer.stream(question, mode=mode.value, ask_intent=ask_intent, **arguments)
        made = _followed(stream, is_shown=not as_json)
    if as_json:
        print_json(made.as_json())
    else:
        _print_sources(made)
    for text in made.notices:
        notice(text)
    if made.status == "not_in_documentation":
        raise typer.Exit(1)


def _check_mode(mode: Mode, arguments: dict[str, Any]) -> None:
    from pgrag.answer.answerer import foreign_arguments

    foreign = foreign_arguments(mode.value, arguments)
    if foreign:
        spelt = [_SPELT.get(name, f"--{name.replace('_', '-')}") for name in foreign]
        raise typer.BadParameter(
            f"the {mode.value} mode has no use for {', '.join(spelt)}.", param_hint="--mode"
        )


def _split(types: str) -> list[str]:
    return [name.strip() for name in types.split(",") if name.strip()]


def _followed(stream: AnswerStream, *, is_shown: bool) -> Answer:
    """Show an answer as it comes; an interrupt ends what the language model is writing."""
    is_inline = False
    try:
        # Whatever ends the loop early also ends the request to the language model.
        with closing(stream.events) as events:
            for event in events:
                if event.name == "step":
                    notice(_step(event.data))
                elif event.name == "token" and is_shown:
                    is_inline = True
                    stdout().file.write(printable(event.data["text"]))
                    stdout().file.flush()
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    finally:
        if is_inline:
            stdout().file.write("\n")
            stdout().file.flush()
    return stream.answer


def _step(data: dict[str, Any]) -> str:
    """One step of the agentic mode on one line."""
    calls = [
        f"{call['tool']} {json.dumps(call['arguments'], ensure_ascii=False)}: {call['outcome']}"
        for call in data["calls"]
    ]
    return f"{data['step']}. {'; '.join(calls) or 'answers'}"


def _print_sources(made: Answer) -> None:
    """Print the sources that the text cites, and what a reader should check."""
    cited = {citation.number for citation in made.citations}
    sources = [source for source in made.sources if source["number"] in cited]
    if sources:
        stdout().print()
    for source in sources:
        path = [part for part in source["path"] if part]
        place = " › ".join([label(source["library"], source["version"]), *path])
        anchor = f"#{source['anchor']}" if source["anchor"] else ""
        stdout().print(
            Text.assemble((f"{'[' + str(source['number']) + ']':<{_INDENT}}", "cyan"))
            + Text(printable(place)),
            soft_wrap=True,
        )
        if source["url"]:
            address = Text(printable(source["url"] + anchor), style="blue")
            print_indented(address, indent=_INDENT)
    for number in made.unknown_citations:
        warn(f"the answer cites [{number}], and there is no such source.")
    doubtful = made.unsupported
    if doubtful:
        warn(f"{counted(len(doubtful), 'sentence')} without support in the sources:")
        for sentence in doubtful[:_SHOWN_SENTENCES]:
            text = " ".join(sentence.text.split())
            stderr().print(
                Text(f"{' ' * _INDENT}{printable(text)} ({sentence.doubt})", style="dim"),
                soft_wrap=True,
            )
        if len(doubtful) > _SHOWN_SENTENCES:
            notice(f"{' ' * _INDENT}and {len(doubtful) - _SHOWN_SENTENCES} more")
