"""An index for the jobs in one state: those that failed are few among many that succeeded.

Revision ID: 0025
Revises: 0024
"""

from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("create index jobs_state on pgrag.jobs (state, job_id)")


def downgrade() -> None:
    op.execute("drop index pgrag.jobs_state")
