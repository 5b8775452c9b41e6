"""New libraries weigh a title 4 times; those that exist keep the 6 that their impacts have.

So do the settings that a tuning has found and left, which undoing it compares and restores. A query
also says which share of alpha and of title_evidence counts for it.

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
    op.execute(
        """
        alter type _pgrag.library_query
            add attribute alpha_share double precision,
            add attribute title_share double precision;
        drop function if exists _pgrag.title_vectors(pgrag.query_term[]);
        """
    )


def downgrade() -> None:
    _state_title_weight(4)
    op.execute(
        """
        drop function if exists _pgrag.title_vectors(pgrag.query_term[]);
        drop function if exists _pgrag.is_name_of_code(text);
        alter type _pgrag.library_query
            drop attribute title_share,
            drop attribute alpha_share;
        """
    )


def _state_title_weight(weight: int) -> None:
    for table, column in (
        ("libraries", "settings"),
        ("tuning_runs", "settings_before"),
        ("tuning_runs", "settings_after"),
    ):
        op.execute(f"""
            update pgrag.{table} as t
            set {column} = t.{column} || jsonb_build_object(
                'field_weights',
                jsonb_build_object('title', {weight})
                    || coalesce(t.{column} -> 'field_weights', '{{}}')
            )
        """)
