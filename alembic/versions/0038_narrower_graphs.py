"""The HNSW graphs are built with m = 10 and ef_construction = 100, in place of 16 and 64.

They are searched faster, and as many of the nearest are found. A large graph stays as it is until
somebody rebuilds it with `reindex index concurrently`.

Revision ID: 0038
Revises: 0037
"""

from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None

GRAPHS = """
do $$
declare
    graph record;
begin
    for graph in
        select
            format('%I.%I', n.nspname, c.relname) as name, pg_relation_size(c.oid) as bytes
        from pg_index as i
        join pg_class as c on c.oid = i.indexrelid
        join pg_namespace as n on n.oid = c.relnamespace
        where i.indrelid = 'pgrag.embeddings'::regclass
            and c.relname like 'embeddings\\_hnsw\\_%'
    loop
        {changes}
    end loop;
end;
$$;
"""


def upgrade() -> None:
    op.execute("set local maintenance_work_mem = '512MB'")
    op.execute(
        GRAPHS.replace(
            "{changes}",
            """
        execute format('alter index %s set (m = 10, ef_construction = 100)', graph.name);
        -- Some 100,000 vectors, which are built within seconds.
        if graph.bytes < 100000000 then
            execute format('reindex index %s', graph.name);
        end if;
            """,
        )
    )


def downgrade() -> None:
    op.execute(
        GRAPHS.replace(
            "{changes}",
            "execute format('alter index %s reset (m, ef_construction)', graph.name);",
        )
    )
