"""The index of impacts also has the strong postings of each lexeme, as lists of their own.

Revision ID: 0045
Revises: 0044
"""

from alembic import op

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None

DROP = "drop index pgrag.impacts_keys"
CREATE = """
create index impacts_keys on pgrag.impacts
    using gin (_pgrag.posting_keys(version_id, weights))
    with (fastupdate = on, gin_pending_list_limit = 32768);
alter index pgrag.impacts_keys alter column 1 set statistics 0;
"""
KEYS = """
create or replace function _pgrag.posting_keys(
    version_id bigint,
    weights sparsevec
)
returns bigint[]
language sql
immutable
parallel safe
as $$
    select pg_catalog.array_agg(p.id)
        operator(pg_catalog.||) pg_catalog.array_agg(
            posting_keys.version_id operator(pg_catalog.<<) 31 operator(pg_catalog.|) p.id
        )
    from (
        select
            pg_catalog.split_part(e.element, ':', 1)::bigint as lexeme_id,
            pg_catalog.split_part(e.element, ':', 2)::real as impact
        from pg_catalog.unnest(
            pg_catalog.string_to_array(
                pg_catalog.btrim(
                    pg_catalog.split_part(posting_keys.weights::pg_catalog.text, '/', 1), '{}'
                ),
                ','
            )
        ) as e (element)
        -- "offset 0": each is read once.
        offset 0
    ) as l
    cross join lateral (
        select l.lexeme_id
        union all
        select l.lexeme_id operator(pg_catalog.|) (1::bigint operator(pg_catalog.<<) 30)
        where l.impact operator(pg_catalog.>=) 1.8::real
    ) as p (id);
$$;
"""
KEYS_BEFORE = """
create or replace function _pgrag.posting_keys(
    version_id bigint,
    weights sparsevec
)
returns bigint[]
language sql
immutable
parallel safe
as $$
    select pg_catalog.array_agg(l.id)
        operator(pg_catalog.||) pg_catalog.array_agg(
            posting_keys.version_id operator(pg_catalog.<<) 30 operator(pg_catalog.|) l.id
        )
    from (
        select pg_catalog.split_part(e.element, ':', 1)::bigint as id
        from pg_catalog.unnest(
            pg_catalog.string_to_array(
                pg_catalog.ltrim(
                    pg_catalog.split_part(posting_keys.weights::pg_catalog.text, '/', 1), '{'
                ),
                ','
            )
        ) as e (element)
        -- "offset 0": each id is read once.
        offset 0
    ) as l;
$$;
"""


def upgrade() -> None:
    _replace(KEYS)


def downgrade() -> None:
    _replace(KEYS_BEFORE)


def _replace(keys: str) -> None:
    op.execute(DROP)
    op.get_bind().exec_driver_sql(keys)
    op.execute(CREATE)
