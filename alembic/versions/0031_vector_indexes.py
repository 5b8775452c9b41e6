"""Every model has its HNSW index at all times, the built-in one from the start.

Revision ID: 0031
Revises: 0030
"""

from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None

# The index needs the id of the model; its tokens come afterwards (pgrag.embedding.install). What a
# build left unfinished is replaced.
UPGRADE = """
insert into pgrag.embedding_models (name, provider, dimensions)
values ('static-docs-256', 'builtin', 256)
on conflict (name) do nothing;

do $$
declare
    unfinished regclass;
    used pgrag.embedding_models;
begin
    for unfinished in
        select i.indexrelid
        from pg_index as i
        join pg_class as c on c.oid = i.indexrelid
        where i.indrelid = 'pgrag.embeddings'::regclass
            and c.relname like 'embeddings\\_hnsw\\_%'
            and not i.indisvalid
    loop
        execute format('drop index %s', unfinished);
    end loop;
    for used in select m.* from pgrag.embedding_models as m order by m.model_id loop
        execute format(
            'create index if not exists embeddings_hnsw_%1$s on pgrag.embeddings'
            ' using hnsw ((embedding::halfvec(%2$s)) halfvec_ip_ops) where model_id = %1$s',
            used.model_id, used.dimensions
        );
    end loop;
end;
$$;
"""

# An earlier version of pgrag builds the index again once there are many vectors.
DOWNGRADE = """
do $$
declare
    made regclass;
begin
    for made in
        select c.oid
        from pg_index as i
        join pg_class as c on c.oid = i.indexrelid
        where i.indrelid = 'pgrag.embeddings'::regclass
            and c.relname like 'embeddings\\_hnsw\\_%'
    loop
        execute format('drop index %s', made);
    end loop;
end;
$$;
"""


def upgrade() -> None:
    op.execute(UPGRADE)


def downgrade() -> None:
    op.execute(DOWNGRADE)
