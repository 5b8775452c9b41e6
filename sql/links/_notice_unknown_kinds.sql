-- A notice for each wanted kind that no edge of the library has.
create or replace function _pgrag.notice_unknown_kinds(
    library_id bigint,
    kinds text[]
)
returns void
language plpgsql
stable
parallel safe
as $$
declare
    names text[];
    unknown text;
begin
    if notice_unknown_kinds.kinds is null then
        return;
    end if;
    names := array(
        select distinct e.kind
        from pgrag.edges as e
        where e.library_id = notice_unknown_kinds.library_id
        order by e.kind
    );
    for unknown in select k from unnest(notice_unknown_kinds.kinds) as k where k <> all (names) loop
        raise notice 'No edge is of the kind %. %', quote_literal(left(unknown, 200)),
            _pgrag.name_hint(unknown, names, 'Kinds', 'The library has no edges.');
    end loop;
end;
$$;
