"""The cache of query vectors is kept by caller: a role reads those of its own searches.

Those so far are of nobody, and go: a search embeds its query again.

Revision ID: 0043
Revises: 0042
"""

from alembic import op

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("delete from pgrag.query_vectors")
    op.execute(
        "alter table pgrag.query_vectors add column caller text not null default current_user"
    )
    op.execute("alter table pgrag.query_vectors drop constraint query_vectors_pkey")
    op.execute("alter table pgrag.query_vectors add primary key (model_id, query_hash, caller)")
    op.execute("drop function if exists _pgrag.kinds_of_tables()")
    op.execute("drop function if exists _pgrag.set_policy(regclass, text)")
    op.execute("drop function if exists _pgrag.tell_workers(bigint)")


def downgrade() -> None:
    op.execute("drop function if exists _pgrag.kinds_of_tables()")
    op.execute("drop function if exists _pgrag.set_policy(regclass, text, text)")
    op.execute("drop function if exists _pgrag.keep_identities()")
    op.execute("drop function if exists _pgrag.tell_workers()")
    op.execute("drop policy if exists confined_changes on pgrag.jobs")
    op.execute("drop policy if exists visible on pgrag.query_vectors")
    op.execute("alter table pgrag.query_vectors disable row level security")
    op.execute("delete from pgrag.query_vectors")
    op.execute("alter table pgrag.query_vectors drop constraint query_vectors_pkey")
    op.execute("alter table pgrag.query_vectors drop column caller")
    op.execute("alter table pgrag.query_vectors add primary key (model_id, query_hash)")
