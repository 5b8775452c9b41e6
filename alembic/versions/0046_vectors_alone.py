"""A search by vectors alone visits more of the graph.

Revision ID: 0046
Revises: 0045
"""

from alembic import op

revision = "0046"
down_revision = "0045"
branch_labels = None
depends_on = None

ARGUMENTS = {
    "vector_candidates": ("integer", "integer, boolean"),
    "nearest_in_part": ("integer, bigint", "integer, bigint, boolean"),
    "nearest_by_index": ("boolean", "boolean, boolean"),
}


def upgrade() -> None:
    _drop(0)


def downgrade() -> None:
    _drop(1)


def _drop(nth: int) -> None:
    request = ("_pgrag.search_request", "_pgrag.search_request, boolean")[nth]
    op.execute(f"drop function if exists _pgrag.nearest_by_models({request})")
    for name, last in ARGUMENTS.items():
        begin = "halfvec, bigint, _pgrag.search_target, integer"
        op.execute(f"drop function if exists _pgrag.{name}({begin}, {last[nth]})")
