"""Write sql/configuration/_argument_rules.sql: what the checks in SQL know of arguments."""

import json
import sys
import textwrap

import reference_page

from pgrag.ground.arguments import rules

FILE = reference_page.ROOT / "sql" / "configuration" / "_argument_rules.sql"


def function() -> str:
    """Return the file: a function that returns the rules as JSON."""
    declared = rules()
    rows = ",\n".join(
        textwrap.fill(
            f"{json.dumps(name)}: {json.dumps(rule)}",
            100,
            initial_indent=" " * 12,
            subsequent_indent=" " * 16,
            break_on_hyphens=False,
        )
        for name, rule in declared["arguments"].items()
    )
    lists = ",\n".join(
        f"            {json.dumps(name)}: [\n{_wrapped(names)}\n            ]"
        for name, names in declared["functions"].items()
    )
    return f"""\
-- The arguments of searches as src/pgrag/ground/arguments.py declares them. Written by
-- `make docs`; a test holds it equal to the declaration.
create or replace function _pgrag.argument_rules()
returns jsonb
language sql
immutable
parallel safe
as $$
    select '{{
        "arguments": {{
{rows}
        }},
        "functions": {{
{lists}
        }}
    }}'::pg_catalog.jsonb;
$$;
"""


def _wrapped(names: list[str]) -> str:
    text = ", ".join(map(json.dumps, names))
    return textwrap.fill(text, 100, initial_indent=" " * 16, subsequent_indent=" " * 16)


if __name__ == "__main__":
    sys.exit(reference_page.write(FILE, function(), "src/pgrag/ground/arguments.py says"))
