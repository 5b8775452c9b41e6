"""The texts of `--help`: two columns, broken between words, commands by panel."""

from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

#: Stands for a hyphen, at which a line would be broken: in the middle of an option.
_HYPHEN = "\ue000"


_Base: Any = typer.Context.formatter_class


class _Formatter(_Base):  # type: ignore[misc]
    """Breaks no word, not even at its hyphens."""

    def write(self, string: str) -> None:
        super().write(string.replace(_HYPHEN, "-"))

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        super().write_usage(prog, args.replace("-", _HYPHEN), prefix)

    def write_text(self, text: str) -> None:
        super().write_text(text.replace("-", _HYPHEN))

    def write_dl(self, rows: Any, *arguments: Any, **settings: Any) -> None:
        whole = [(name, about.replace("-", _HYPHEN)) for name, about in rows]
        super().write_dl(whole, *arguments, **settings)


class _Context(typer.Context):
    formatter_class = _Formatter


class Command(TyperCommand):
    """A command with such a help; the `required` arguments of its function have no brackets."""

    context_class = _Context

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the parts of the usage line, the first text about a command to be made."""
        for parameter in self.params:
            if parameter.name in getattr(self.callback, "required", ()):
                parameter.required = True
        return super().collect_usage_pieces(ctx)


class Group(TyperGroup):
    """A group with such a help."""

    context_class = _Context

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, panel by panel."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                panel = getattr(command, "rich_help_panel", None)
                about = (command.help or "").split("\n\n")[0]
                panels.setdefault(panel if isinstance(panel, str) else "Commands", []).append(
                    (name, about)
                )
        for panel, rows in panels.items():
            with formatter.section(panel):
                formatter.write_dl(rows)
