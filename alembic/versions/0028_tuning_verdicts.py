"""What was decided on each setting that a tuning tried.

Revision ID: 0028
Revises: 0027
"""

from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("alter table pgrag.tuning_runs add column verdicts jsonb not null default '[]'")


def downgrade() -> None:
    op.execute("alter table pgrag.tuning_runs drop column verdicts")
