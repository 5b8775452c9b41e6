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

UNUSED = """
select m.model_id
from pgrag.embedding_models as m
where m.name = '{name}'
    and not exists (select from pgrag.model_tokens as t where t.model_id = m.model_id)
    and not exists (select from pgrag.libraries as l where l.model_id = m.model_id)
    and not exists (select from pgrag.embeddings as e where e.model_id = m.model_id)
    and not exists (select from pgrag.edge_embeddings as e where e.model_id = m.model_id)
"""
RENAME = """
update pgrag.embedding_models as m
set name = '{new}'
where m.model_id in ({unused})
    and not exists (select from pgrag.embedding_models as o where o.name = '{new}')
"""
# Of a database that has been down to a revision before 0031, with the model of the other name.
REMOVE = """
do $do$
declare
    unused bigint;
begin
    for unused in {unused} loop
        execute format('drop index if exists pgrag.embeddings_hnsw_%s', unused);
        delete from pgrag.embedding_models as m where m.model_id = unused;
    end loop;
end
$do$
"""


def give_name(old: str, new: str) -> None:
    unused = UNUSED.format(name=old)
    op.execute(RENAME.format(new=new, unused=unused))
    op.execute(REMOVE.format(unused=unused))


def upgrade() -> None:
    give_name(old="static-docs-256", new="static-en-de-ru-256")


def downgrade() -> None:
    give_name(old="static-en-de-ru-256", new="static-docs-256")
