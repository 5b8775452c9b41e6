"""A schema of their own for private functions, and hits that say why their version was read.

Revision ID: 0012
Revises: 0011
"""

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

TYPES = (
    "search_target",
    "library_query",
    "search_request",
    "candidates",
    "ranked_hit",
    "ranking",
    "listing",
    "evaluated_hit",
)


HITS = ("hit", "page_hit", "batch_hit", "context_block")


def upgrade() -> None:
    op.execute("create schema _pgrag")
    for name in TYPES:
        op.execute(f"alter type pgrag.{name} set schema _pgrag")
    for name in HITS:
        op.execute(f"alter type pgrag.{name} add attribute version_reason text")
    op.execute(
        """
        alter type pgrag.answer_material add attribute versions jsonb;
        alter type _pgrag.search_request rename attribute match_count to top_k;
        alter type _pgrag.search_request
            add attribute version_reasons text[],
            add attribute snippets boolean,
            add attribute explain boolean;
        """
    )
    _rename_argument("match_count", "top_k")


def _rename_argument(old: str, new: str) -> None:
    """Rename an argument of searches where what was asked for is kept."""
    op.execute(
        f"""
        update pgrag.searches
        set parameters = parameters - '{old}'
            || jsonb_build_object('{new}', parameters -> '{old}')
        where parameters ? '{old}';
        update pgrag.evaluation_runs
        set configuration = jsonb_set(
            configuration,
            '{{arguments}}',
            (configuration -> 'arguments') - '{old}'
                || jsonb_build_object('{new}', configuration #> '{{arguments,{old}}}')
        )
        where configuration -> 'arguments' ? '{old}';
        """
    )


def downgrade() -> None:
    _rename_argument("top_k", "match_count")
    op.execute(
        """
        alter type _pgrag.search_request
            drop attribute version_reasons,
            drop attribute snippets,
            drop attribute explain;
        alter type _pgrag.search_request rename attribute top_k to match_count;
        alter type pgrag.answer_material drop attribute versions;
        """
    )
    for name in HITS:
        op.execute(f"alter type pgrag.{name} drop attribute version_reason")
    for name in TYPES:
        op.execute(f"alter type _pgrag.{name} set schema pgrag")
    op.execute("drop schema _pgrag")
