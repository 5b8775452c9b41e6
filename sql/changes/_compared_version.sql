-- The version that a comparison reads; a notice if it is not exactly the wanted one.
create or replace function _pgrag.compared_version(
    library text,
    version text
)
returns bigint
language plpgsql
stable
parallel safe
as $$
declare
    resolved record;
begin
    -- "-" is documentation without a version, as on every face.
    select r.* into resolved
    from pgrag.resolve_version(
        compared_version.library, case btrim(version) when '-' then '' else version end
    ) as r;
    if compared_version.version is not null and resolved.reason <> 'exact' then
        raise notice '% stands for %: %.',
            compared_version.version, coalesce(nullif(resolved.version, ''), '(unversioned)'),
            resolved.reason;
    end if;
    return resolved.version_id;
end;
$$;
