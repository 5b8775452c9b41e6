-- The regular expression on keys for a glob of `pgrag index` (src/pgrag/ingest/globs.py).
create or replace function _pgrag.glob_expression(
    glob text
)
returns text
language sql
immutable
parallel safe
as $$
    select '^' || string_agg(
        case
            when t.part[1] = '**/' then '(?:.*/)?'
            when t.part[1] = '**' then '.*'
            when t.part[1] = '*' then '[^/]*'
            when t.part[1] = '?' then '[^/]'
            when length(t.part[1]) > 2 and t.part[1] ~ '^\['
            then regexp_replace(
                '[' || regexp_replace(
                    substr(t.part[1], 2, length(t.part[1]) - 2),
                    '[\\[]', '\\\&', 'g'
                ) || ']',
                '^\[!', '[^/'
            )
            else regexp_replace(t.part[1], '[][\\.*+?(){}|^$#-]', '\\\&', 'g')
        end,
        '' order by t.nth
    ) || '$'
    from regexp_replace(nullif(glob_expression.glob, ''), '/$', '/**') as whole (glob)
    cross join lateral regexp_replace(
        case when whole.glob ~ '/' then whole.glob else '**/' || whole.glob end, '^(\./)?/?', ''
    ) as rooted (glob)
    cross join lateral regexp_matches(
        rooted.glob, '\*\*/|\*\*|\*|\?|\[!?\]?[^\]]*\]|.', 'g'
    ) with ordinality as t (part, nth);
$$;
