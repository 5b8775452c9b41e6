"""Filters of frameworks, in pgrag's grammar."""

from typing import Any

from pgrag.ground.errors import InvalidFilter


def of_haystack(filters: dict[str, Any] | None) -> dict[str, Any] | None:
    """Filters of Haystack as pgrag's; those of pgrag, and none, stay as they are."""
    match filters:
        case {"operator": "AND" | "OR" as operator, "conditions": list(conditions)}:
            return {operator.lower(): list(map(of_haystack, conditions))}
        case {"operator": "NOT", "conditions": list(conditions)}:
            return {"not": {"and": list(map(of_haystack, conditions))}}
        case {"field": str(field), "operator": "not in", "value": value}:
            return {"not": {field.removeprefix("meta."): {"in": value}}}
        case {"field": str(field), "operator": str(operator), "value": value}:
            return {field.removeprefix("meta."): {operator.replace("==", "="): value}}
        case {"conditions": _} | {"field": _}:
            raise InvalidFilter(
                f"This is no filter of Haystack: {repr(filters)[:200]}.",
                hint="It has operator (AND, OR, NOT) and conditions; or field, operator and value.",
            )
    return filters


def of_llamaindex(filters: Any) -> dict[str, Any]:
    """`MetadataFilters` as pgrag's filters."""
    parts = [
        of_llamaindex(each) if hasattr(each, "filters") else _condition(each)
        for each in filters.filters
    ]
    joined = filters.condition.value if filters.condition else "and"
    return {"not": {"and": parts}} if joined == "not" else {joined: parts}


def _condition(filter_: Any) -> dict[str, Any]:
    field, value, operator = filter_.key, filter_.value, filter_.operator.value
    match operator:
        case "nin":
            return {"not": {field: {"in": value}}}
        case "is_empty":
            return {field: {"exists": False}}
        case "any":
            return {field: {"in": value}}
        case "==" | "contains":
            return {field: {"=": value}}
        case "!=" | "<" | "<=" | ">" | ">=" | "in" | "all":
            return {field: {operator: value}}
    raise InvalidFilter(
        f"pgrag has no filter {operator} on {field}.",
        hint="Words in the text belong into the query; +word must occur.",
    )
