"""`pgrag answer`."""

import json
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text
from typer import Argument, Option

from pgrag.cli import options
from pgrag.cli.command import App, searching
from pgrag.cli.notations import counted, label, misuse
from pgrag.cli.output import Output, notice, print_indented, stderr, stdout, warn
from pgrag.ground.arguments import AnswerArguments, declared
from pgrag.ground.printable import printable
from pgrag.ground.values.answers import Answer, AnswerMode, RelatedSection, Source

if TYPE_CHECKING:
    from pgrag.answer import AnswerStream

_INDENT = 5
_SHOWN_SENTENCES = 5


@searching(AnswerArguments)
def answer(
    app: App,
    question: Annotated[str, Argument(help="The question.")],
    *,
    arguments: dict[str, Any],
    mode: Annotated[
        AnswerMode,
        Option(help="direct: one search; agentic: the language model searches in steps."),
    ] = "direct",
    max_steps: Annotated[
        int | None, Option(min=1, max=50, help="Agentic: the maximum number of steps; default: 6.")
    ] = None,
    max_tokens: Annotated[
        int | None, Option(min=1, help="Agentic: the maximum number of tokens; default: 30000.")
    ] = None,
    ask_intent: Annotated[
        bool | None,
        Option(
            "--ask-intent/--no-ask-intent",
            help="Let the language model name the intent if no rule matches; default: the setting.",
        ),
    ] = None,
    as_json: options.Json = False,
) -> Output:
    """Answer a question from the documentation, with its sources.

    Needs a language model: PGRAG_LLM_URL and PGRAG_LLM_MODEL. Exit status 1: there is no answer.
    """
    arguments |= {"max_steps": max_steps, "max_tokens": max_tokens}
    _check_mode(mode, {**arguments, "ask_intent": ask_intent or None})
    stream = app.answering("cli").stream(question, mode=mode, ask_intent=ask_intent, **arguments)
    made = _followed(stream, is_shown=not as_json)
    failed = made.status == "not_in_documentation"
    return Output(made.as_json(), lambda: _print_sources(made), made.notices, failed=failed)


def _check_mode(mode: AnswerMode, arguments: dict[str, Any]) -> None:
    from pgrag.answer.answerer import foreign_arguments

    options_of = {one.name: one.argument.option for one in declared(AnswerArguments)}
    if foreign := foreign_arguments(mode, arguments):
        names = [(options_of.get(name) or (f"--{name.replace('_', '-')}",))[0] for name in foreign]
        raise misuse("--mode", f"the {mode} mode has no use for {', '.join(names)}.")


def _followed(stream: "AnswerStream", *, is_shown: bool) -> Answer:
    """Show an answer as it arrives; an interrupt also ends the request to the language model."""
    is_inline = False
    try:
        with closing(stream.events) as events:
            for event in events:
                if event.name == "step":
                    notice(_step(event.data))
                elif event.name == "token" and is_shown:
                    is_inline = True
                    sys.stdout.write(printable(event.data["text"]))
                    sys.stdout.flush()
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    finally:
        if is_inline:
            sys.stdout.write("\n")
            sys.stdout.flush()
    return stream.answer


def _step(data: dict[str, Any]) -> str:
    calls = [
        f"{call['tool']} {json.dumps(call['arguments'], ensure_ascii=False)}: {call['outcome']}"
        for call in data["calls"]
    ]
    return f"{data['step']}. {'; '.join(calls) or 'answers'}"


def _print_sources(made: Answer) -> None:
    cited = {citation.number for citation in made.citations}
    sources = [source for source in made.sources if source.number in cited]
    if sources:
        stdout().print()
    for source in sources:
        number = (f"{f'[{source.number}]':<{_INDENT}}", "cyan")
        stdout().print(Text.assemble(number, printable(_breadcrumbs(source))), soft_wrap=True)
        if source.url:
            address = source.url + (f"#{source.anchor}" if source.anchor else "")
            print_indented(Text(printable(address), style="blue"), indent=_INDENT)
    if made.related:
        stdout().print("\nSee also:")
    for section in made.related:
        where = printable(_breadcrumbs(section))
        stdout().print(Text(f"{' ' * _INDENT}{where}"), soft_wrap=True)
    for unknown in made.unknown_citations:
        warn(f"the answer cites [{unknown}], which is no source.")
    if doubtful := made.unsupported:
        warn(f"{counted(len(doubtful), 'sentence')} without support in the sources:")
        for sentence in doubtful[:_SHOWN_SENTENCES]:
            text = " ".join(sentence.text.split())
            stderr().print(
                Text(f"{' ' * _INDENT}{printable(text)} ({sentence.doubt})", style="dim"),
                soft_wrap=True,
            )
        if len(doubtful) > _SHOWN_SENTENCES:
            notice(f"{' ' * _INDENT}and {len(doubtful) - _SHOWN_SENTENCES} more")


def _breadcrumbs(passage: Source | RelatedSection) -> str:
    return " › ".join([label(passage.library, passage.version), *filter(None, passage.path)])
