"""New libraries weigh a title 4 times; those that exist keep the 6 that their impacts have.

Revision ID: 0044
Revises: 0043
"""

from alembic import op

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _state_title_weight(6)


def downgrade() -> None:
    _state_title_weight(4)
    op.execute("drop function if exists _pgrag.title_weight(pgrag.query_term[])")


def _state_title_weight(weight: int) -> None:
    op.execute(f"""
        update pgrag.libraries as l
        set settings = l.settings || jsonb_build_object(
            'field_weights',
            jsonb_build_object('title', {weight}) || coalesce(l.settings -> 'field_weights', '{{}}')
        )
    """)
