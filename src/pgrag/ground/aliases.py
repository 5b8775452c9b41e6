"""Other names of the arguments of tools, as documents and other servers call them."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

#: Each line is one thing by its names; a longer list goes on in a line that begins the same.
_NAMES = tuple(
    frozenset(line.split())
    for line in """
    query q question text search search_query search_text query_text user_query topic input prompt
    query keywords
    top_k limit k n n_results max_results num_results result_count count top_n size page_size
    ids chunk_id document_id id passage_id doc_id node_id chunk document passage chunk_key
    ids document_ids passage_ids chunk_ids passages documents
    page page_id page_key page_name path file filename note title url uri page_url
    source url uri path folder repository
    library lib collection collection_name library_name library_id index corpus project namespace
    library context7_compatible_library_id package package_name
    version library_version target_version to_version new_version tag release
    changed_since since from_version old_version base_version
    threshold min_confidence min_score score_threshold similarity_threshold minimum_score
    threshold min_confidence min_similarity cutoff
    filters filter where metadata_filter metadata_filters
    exclude exclude_ids excluded
    token_budget tokens max_tokens token_limit
    cursor page_token next_cursor
    """.strip().splitlines()
)


def by_own_names(values: Mapping[str, Any], known: Iterable[str]) -> dict[str, Any]:
    """Give each argument the `known` name of the same meaning, if there is just one.

    What is known, or means nothing that is, stays as it is. Raises `ValueError` if one argument is
    given twice with different values.
    """
    own = {_snake(name): name for name in known}
    named: dict[str, Any] = {}
    given: dict[str, str] = {}
    for name, value in values.items():
        target = own.get(_snake(name)) or _meant(_snake(name), own) or name
        if target in named and named[target] != value:
            other = given[target] if name == target else name
            raise ValueError(f"{target} is given twice, once as {other}.")
        named[target], given[target] = value, name
    return named


def _meant(name: str, own: Mapping[str, str]) -> str | None:
    candidates = {own[other] for names in _NAMES if name in names for other in names & own.keys()}
    return candidates.pop() if len(candidates) == 1 else None


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[-\s]+", "_", name).lower()
