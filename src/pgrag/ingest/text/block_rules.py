"""The block rules of CommonMark, chosen by the first character of a line, which takes a third less
time.
"""

from collections.abc import Callable
from functools import partial

from markdown_it import MarkdownIt, rules_block

_Rule = Callable[[rules_block.StateBlock, int, int, bool], bool]
_Rules = dict[str, _Rule]


def _rule_or_list(state: rules_block.StateBlock, line: int, end: int, silent: bool) -> bool:
    return rules_block.hr(state, line, end, silent) or rules_block.list_block(
        state, line, end, silent
    )


#: Rules by the first character of a line: anywhere, after text, and after an item of a list.
_BLOCKS: _Rules = {
    **dict.fromkeys("`~", rules_block.fence),
    ">": rules_block.blockquote,
    **dict.fromkeys("*-", _rule_or_list),
    "_": rules_block.hr,
    **dict.fromkeys("+0123456789", rules_block.list_block),
    "[": rules_block.reference,
    "<": rules_block.html_block,
    "#": rules_block.heading,
}
_AFTER_TEXT = {character: rule for character, rule in _BLOCKS.items() if character != "["}
_AFTER_ITEM: _Rules = {
    **dict.fromkeys("`~", rules_block.fence),
    ">": rules_block.blockquote,
    **dict.fromkeys("*-_", rules_block.hr),
}


def block_parser() -> MarkdownIt:
    """Return a parser of blocks whose tokens are those of CommonMark with the tables of GitHub."""
    # The parser asks for "tasklists" at each item, and an option that it lacks costs an exception.
    parser = MarkdownIt("commonmark", {"tasklists": False})
    parser.core.ruler.enableOnly(["normalize", "block"])
    ruler = parser.block.ruler
    # The parser knows by the name "code" that indented lines are code; it takes all blocks.
    ruler.at("code", _block)
    # What ends a block of these kinds, in lists that the parser asks for by name.
    ruler.push("after text", _ends_text, {"alt": ["paragraph", "reference"]})
    ruler.push("after quote", partial(_matches, _AFTER_TEXT), {"alt": ["blockquote"]})
    ruler.push("after item", partial(_matches, _AFTER_ITEM), {"alt": ["list"]})
    ruler.enableOnly(["code", "after text", "after quote", "after item"])
    return parser


def _block(state: rules_block.StateBlock, line: int, end: int, silent: bool) -> bool:
    at = (state, line, end, silent)
    if _is_table(*at):
        return True
    if state.is_code_block(line):
        return rules_block.code(*at)
    return _matches(_BLOCKS, *at) or rules_block.lheading(*at) or rules_block.paragraph(*at)


def _ends_text(state: rules_block.StateBlock, line: int, end: int, silent: bool) -> bool:
    at = (state, line, end, silent)
    return _matches(_AFTER_TEXT, *at) or _is_table(*at)


def _matches(
    rules: _Rules, state: rules_block.StateBlock, line: int, end: int, silent: bool
) -> bool:
    start = state.bMarks[line] + state.tShift[line]
    rule = rules.get(state.src[start : start + 1])
    return rule is not None and rule(state, line, end, silent)


def _is_table(state: rules_block.StateBlock, line: int, end: int, silent: bool) -> bool:
    """Try a table only if the next line begins like the one between its head and its rows."""
    if line + 2 > end:
        return False
    start = state.bMarks[line + 1] + state.tShift[line + 1]
    return state.src[start : start + 1] in ("|", "-", ":") and rules_block.table(
        state, line, end, silent
    )
