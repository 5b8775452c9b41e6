"""The built-in model that a new database expects has another name.

Revision 0031 names the model that shipped then. A database that has it, with tokens, keeps it as
long as libraries use it.

Revision ID: 0035
Revises: 0034
"""

from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None

RENAME = """
update pgrag.embedding_models as m
set name = '{new}'
where m.name = '{old}'
    and not exists (select from pgrag.embedding_models as o where o.name = '{new}')
    and not exists (select from pgrag.model_tokens as t where t.model_id = m.model_id)
    and not exists (select from pgrag.libraries as l where l.model_id = m.model_id)
    and not exists (select from pgrag.embeddings as e where e.model_id = m.model_id)
    and not exists (select from pgrag.edge_embeddings as e where e.model_id = m.model_id)
"""


def upgrade() -> None:
    op.execute(RENAME.format(old="static-docs-256", new="static-en-de-ru-256"))


def downgrade() -> None:
    op.execute(RENAME.format(old="static-en-de-ru-256", new="static-docs-256"))
