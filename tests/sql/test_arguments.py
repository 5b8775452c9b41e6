"""The declaration of arguments, held against the functions in the database."""

import json
import re

import pytest
from library import refused, run

from pgrag.ground.arguments import FUNCTIONS, declared, named_and_options, rules

#: What a function of a search takes besides declared arguments.
OTHERS = {"query", "question", "options", "client", "search_id"}
#: Every function of a search with its arguments; two take those of `search`.
TAKERS = FUNCTIONS | dict.fromkeys(["recorded_search", "explain_search"], FUNCTIONS["search"])
PARAMETERS = """
select a.name, pg_get_function_arg_default(p.oid, a.number::integer) as default_in_sql
from pg_proc as p
cross join lateral unnest(p.proargnames[:p.pronargs]) with ordinality as a (name, number)
where p.oid = %s::regproc
"""


def parameters(connection, function):
    rows = connection.execute(PARAMETERS, [f"pgrag.{function}"]).fetchall()
    return {row["name"]: row["default_in_sql"] for row in rows}


def in_sql(function):
    return {
        one.name: one.argument.default for one in declared(TAKERS[function]) if one.argument.in_sql
    }


@pytest.mark.parametrize("function", TAKERS)
def test_names_defaults_and_options_are_those_declared(connection, function):
    assert parameters(connection, function).keys() - OTHERS <= in_sql(function).keys()
    defaults = in_sql(function)
    for name, default in parameters(connection, function).items():
        if name in OTHERS or default is None or default.startswith("NULL"):
            continue
        [value] = connection.execute(f"select to_jsonb({default}) as v").fetchone().values()
        stated = defaults[name]
        if name == "query_embedding":
            continue
        assert value == (list(stated) if isinstance(stated, tuple) else stated), name
    asked = {"question" if function == "answer_context" else "query": "a"}
    if function == "search":
        return
    own = parameters(connection, function)
    for name in in_sql(function).keys() - own.keys():
        run(connection, function, **asked, options={name: None})
    with refused(connection, "PGR01", "There is no argument levelz.", "levels"):
        run(connection, function, **asked, options={"levelz": [1]})
    if function.removesuffix("_search") in {"keyword", "semantic"}:
        with refused(connection, "PGR01", "options cannot hold mode."):
            run(connection, function, **asked, options={"mode": "hybrid"})
    for taken in own.keys() - OTHERS - {"query_embedding"}:
        with refused(connection, "PGR01", f"options cannot hold {taken}."):
            run(connection, function, **asked, options={taken: "x"})


def test_search_takes_every_argument_by_name_and_ignores_none(connection):
    assert parameters(connection, "search").keys() == in_sql("search").keys() | {"query"}
    [row] = connection.execute(
        "select string_agg(prosrc, '') as source from pg_proc"
        " where proname in ('make_request', 'settled_arguments', 'target_without')"
    ).fetchall()
    read = set(re.findall(r"\b(?:arguments\.|options ->>? ')(\w+)", row["source"])) - {"phrases"}
    # The others are fields of the request, which are filled by name.
    fields = connection.execute(
        "select attname from pg_attribute where attrelid = '_pgrag.search_request'::regclass"
    ).fetchall()
    filled = in_sql("search").keys() & {field["attname"] for field in fields}
    assert in_sql("search").keys() - {"query_embedding"} == read | filled


@pytest.mark.parametrize("function", [*FUNCTIONS, "recorded_search"])
def test_what_python_passes_by_name_is_named_in_sql(connection, function):
    names = in_sql(function)
    passed = named_and_options(function, dict.fromkeys(names, 1)).keys() - {"options"}
    assert passed == parameters(connection, function).keys() - OTHERS


def test_the_rules_in_the_database_are_those_of_the_declaration(connection):
    [row] = connection.execute("select _pgrag.argument_rules() as rules").fetchall()
    assert row["rules"] == json.loads(json.dumps(rules()))


def test_what_a_plain_search_states_is_let_through_by_the_rules_too(connection):
    """Without the rules, which would have to be read: a new argument is stated there, too."""
    [row] = connection.execute(
        "select prosrc as source from pg_proc where proname = 'check_arguments'"
    ).fetchall()
    stated = json.loads(re.search(r"<@ '(\{.+?\})'", row["source"], re.DOTALL)[1])
    others = {"query_embedding", "library", "version", "filters", "rrf_weights"}
    assert stated.keys() == in_sql("search").keys() - others
    [row] = connection.execute(
        "select _pgrag.arguments_by_rules('search', %s) as arguments", [json.dumps(stated)]
    ).fetchall()
    assert row["arguments"] == stated


@pytest.mark.parametrize("function", FUNCTIONS)
def test_bounds_and_choices_are_checked(connection, function):
    asked = {"question" if function == "answer_context" else "query": "a"}
    for name, rule in rules()["arguments"].items():
        if name not in in_sql(function) or not rule.keys() & {"choices", "minimum"}:
            continue
        wrong = "x" if "choices" in rule else rule["minimum"] - 1
        if rule["type"] == "array":
            wrong = [wrong] * rule["shortest"]
        with refused(connection, "PGR01", name):
            run(connection, function, **asked, **{name: wrong})
