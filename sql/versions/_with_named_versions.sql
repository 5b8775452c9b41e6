-- Replaces the versions to search by those that the query names, with a note for each.
create or replace function _pgrag.with_named_versions(
    query text,
    inout version_ids bigint[],
    inout version_reasons text[],
    out named_ids bigint[],
    out wishes text[],
    out notes text[]
)
returns record
language plpgsql
stable
parallel safe
as $$
declare
    named record;
    rule text;
    nth integer;
begin
    named_ids := '{}';
    wishes := '{}';
    notes := '{}';
    for named in
        select
            n.*, l.name as library,
            coalesce(nullif(v.label, ''), '(unversioned)') as label,
            coalesce(nullif(d.label, ''), '(unversioned)') as default_label
        from _pgrag.named_versions(query, version_ids) as n
        join pgrag.libraries as l on l.library_id = n.library_id
        join pgrag.versions as d on d.library_id = n.library_id and d.version_id = n.default_id
        left join pgrag.versions as v on v.library_id = n.library_id and v.version_id = n.version_id
    loop
        if named.version_id is null then
            notes := notes || format(
                'The query names version %s of %s, which does not exist; version %s is searched.'
                ' %s', named.wish, named.library, named.default_label,
                _pgrag.version_hint(named.library_id, named.wish)
            );
            continue;
        end if;
        named_ids := named_ids || named.version_id;
        wishes := wishes || named.wish;
        nth := array_position(version_ids, named.default_id);
        version_ids[nth] := named.version_id;
        if named.is_substitute then
            rule := split_part(named.reason, ' is not indexed; ', 2);
            version_reasons[nth] := format('named in the query as %s; %s', named.wish, rule);
            notes := notes || format(
                'The query names version %s of %s, which does not exist; version %s is searched,'
                ' %s. %s', named.wish, named.library, named.label, rule,
                _pgrag.version_hint(named.library_id, named.wish)
            );
        else
            version_reasons[nth] := 'named in the query as ' || named.wish;
            if named.version_id <> named.default_id then
                notes := notes || format(
                    'The query names version %s of %s: version %s is searched, not %s.',
                    named.wish, named.library, named.label, named.default_label
                );
            end if;
        end if;
    end loop;
end;
$$;

-- The words without the numbers that are understood as versions: read as words, "25.x" finds x.
create or replace function _pgrag.without_versions(
    words text,
    wishes text[]
)
returns text
language sql
immutable
parallel safe
as $$
    select case
        when pg_catalog.cardinality(without_versions.wishes) > 0
        then pg_catalog.regexp_replace(
            without_versions.words,
            pg_catalog.format(
                '(?<![\w.-])v?(?:%s)(?![\w-]|\.\w)',
                pg_catalog.replace(
                    pg_catalog.array_to_string(without_versions.wishes, '|'), '.', '\.'
                )
            ),
            ' ', 'gi'
        )
        else without_versions.words
    end;
$$;
