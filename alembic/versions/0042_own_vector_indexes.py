"""A library of many vectors has an HNSW index of its own, and none of them in the shared one.

All of these indexes are built anew, which takes minutes for a million vectors.

Revision ID: 0042
Revises: 0041
"""

from alembic import op

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None

BEFORE = (
    "pgrag.put_off_vector_index(text, integer, integer)",
    "pgrag.vector_index_state(text)",
    "_pgrag.vector_index(pgrag.embedding_models)",
    "_pgrag.make_target(bigint[], bigint[], bigint, boolean, integer, jsonb, text[], text[])",
    "_pgrag.nearest(halfvec, bigint, _pgrag.search_target, integer, boolean)",
    "_pgrag.nearest_by_index(halfvec, bigint, _pgrag.search_target, integer)",
)

AFTER = (
    "pgrag.place_vectors(text, integer)",
    "pgrag.put_off_vector_index(text, integer, integer, text)",
    "pgrag.vector_index_state(text, text)",
    "_pgrag.owns_vectors()",
    "_pgrag.drop_own_vector_indexes(bigint)",
    "_pgrag.passages_in_part(_pgrag.search_target)",
    "_pgrag.vector_index(pgrag.embedding_models, bigint)",
    "_pgrag.vector_index_name(bigint, bigint)",
    "_pgrag.vector_index_owner(text)",
    "_pgrag.vector_index_lock(text, bigint)",
    "_pgrag.make_target(bigint[], bigint[], bigint, boolean, integer, jsonb, text[], text[],"
    " bigint[])",
    "_pgrag.nearest(halfvec, bigint, _pgrag.search_target, integer, boolean, boolean)",
    "_pgrag.nearest_by_index(halfvec, bigint, _pgrag.search_target, integer, boolean)",
    "_pgrag.nearest_in_part(halfvec, bigint, _pgrag.search_target, integer, integer, bigint)",
    "_pgrag.nearest_of_both(_pgrag.candidates, _pgrag.candidates, integer)",
)

# At least; a server that was told more has room for it.
MEMORY = """
select set_config('maintenance_work_mem', greatest(s.setting::bigint, 512 * 1024) || 'kB', true)
from pg_settings as s
where s.name = 'maintenance_work_mem'
"""

DROP = """
do $$
declare
    graph regclass;
begin
    for graph in
        select c.oid
        from pg_index as i
        join pg_class as c on c.oid = i.indexrelid
        where i.indrelid = 'pgrag.embeddings'::regclass
            and c.relname like 'embeddings\\_hnsw\\_%'
    loop
        execute format('drop index %s', graph);
    end loop;
end;
$$;
"""

CREATE = """
do $$
declare
    graph record;
begin
    for graph in
        select m.model_id, m.dimensions, n.nspname, l.library_id, l.condition
        from pgrag.embedding_models as m
        cross join ({libraries}) as l
        join pg_extension as e on e.extname = 'vector'
        join pg_namespace as n on n.oid = e.extnamespace
    loop
        execute format(
            'create index %1$s on pgrag.embeddings'
            ' using hnsw ((embedding::%2$I.halfvec(%3$s)) %2$I.halfvec_ip_ops)'
            ' with (m = 10, ef_construction = 100) where model_id = %4$s%5$s',
            concat_ws('_', 'embeddings_hnsw', graph.model_id, graph.library_id),
            graph.nspname, graph.dimensions, graph.model_id, graph.condition
        );
    end loop;
end;
$$;
"""

MARK = """
do $$
declare
    large bigint[] := array(
        select v.library_id
        from pgrag.versions as v
        group by v.library_id
        having sum(v.document_count) > 20000
    );
begin
    if large <> '{}' then
        update pgrag.libraries as l set own_vector_index = true where l.library_id = any (large);
        -- Writes the table anew, which leaves no dead rows.
        execute format(
            'alter table pgrag.embeddings alter column own_index type boolean'
            ' using library_id = any (%L::bigint[])',
            large
        );
    end if;
end;
$$;
"""


def upgrade() -> None:
    op.execute(MEMORY)
    op.execute(DROP)
    op.execute(
        """
        alter table pgrag.libraries add column own_vector_index boolean not null default false;
        alter table pgrag.embeddings add column own_index boolean not null default false;
        alter type _pgrag.search_target add attribute own_index_ids bigint[];
        """
    )
    op.execute(MARK)
    op.execute(
        CREATE.replace(
            "{libraries}",
            """
            select null::bigint as library_id, ' and not own_index' as condition
            union all
            select library_id, format(' and library_id = %s', library_id)
            from pgrag.libraries
            where own_vector_index
            """,
        )
    )
    _drop(BEFORE)


def downgrade() -> None:
    op.execute(MEMORY)
    op.execute(DROP)
    op.execute(
        """
        alter type _pgrag.search_target drop attribute own_index_ids;
        alter table pgrag.embeddings drop column own_index;
        alter table pgrag.libraries drop column own_vector_index;
        """
    )
    op.execute(CREATE.replace("{libraries}", "select null::bigint as library_id, '' as condition"))
    _drop(AFTER)


def _drop(functions: tuple[str, ...]) -> None:
    """Drop functions whose arguments differ, or that are not there, in the other revision."""
    for function in functions:
        op.execute(f"drop function if exists {function}")
