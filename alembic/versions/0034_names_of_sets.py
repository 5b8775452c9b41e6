"""The name of an evaluation set is its library's own.

A name that only a hidden library's set had was refused, which told that there is such a set.

Revision ID: 0034
Revises: 0033
"""

from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        """
        alter table pgrag.evaluation_sets
            drop constraint evaluation_sets_name_key,
            add constraint evaluation_sets_name_key unique (name, library)
        """
    )


def downgrade() -> None:
    # Of several sets of one name only the oldest could be found.
    op.execute(
        """
        delete from pgrag.evaluation_sets as s
        using pgrag.evaluation_sets as older
        where older.name = s.name and older.set_id < s.set_id;
        alter table pgrag.evaluation_sets
            drop constraint evaluation_sets_name_key,
            add constraint evaluation_sets_name_key unique (name)
        """
    )
