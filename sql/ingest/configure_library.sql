-- Settings that shape the impacts rewrite the impacts in the same transaction.
create or replace function pgrag.configure_library(
    library text,
    settings jsonb
)
returns jsonb
language plpgsql
volatile
set search_path from current
as $$
declare
    owner pgrag.libraries := _pgrag.lock_library(configure_library.library);
    defaults constant jsonb := _pgrag.default_settings();
    after jsonb;
    unknown text;
    faulty record;
    complaint text;
begin
    if jsonb_typeof(configure_library.settings) is distinct from 'object' then
        raise exception 'settings must be an object, got %.',
            coalesce(left(configure_library.settings::text, 100), 'null')
            using errcode = 'PGR01', hint = 'For example {"alpha": 0.4}.';
    end if;
    select string_agg(k, ', ')
    into unknown
    from jsonb_object_keys(configure_library.settings) as k
    where not defaults ? k;
    if unknown is not null then
        raise exception 'There is no library setting %.', unknown
            using errcode = 'PGR01',
                hint = (
                    select _pgrag.near_hint(split_part(unknown, ',', 1), array_agg(k))
                        || format('Settings: %s.', string_agg(k, ', ' order by k))
                    from jsonb_object_keys(defaults) as k
                );
    end if;
    select s.key, s.value
    into faulty
    from jsonb_each(configure_library.settings) as s
    where jsonb_typeof(defaults -> s.key) = 'object'
        and jsonb_typeof(s.value) not in ('object', 'null')
    limit 1;
    if found then
        raise exception '% must be an object, got %.', faulty.key, faulty.value
            using errcode = 'PGR01',
                hint = format('The defaults: {"%s": %s}.', faulty.key, defaults -> faulty.key);
    end if;
    update pgrag.libraries as l
    set settings = jsonb_strip_nulls(
        l.settings || configure_library.settings || coalesce(
            (
                select jsonb_object_agg(s.key, coalesce(l.settings -> s.key, '{}') || s.value)
                from jsonb_each(configure_library.settings) as s
                where jsonb_typeof(s.value) = 'object'
            ),
            '{}'
        )
    )
    where l.library_id = owner.library_id
    returning _pgrag.effective_settings(l.settings) into after;
    -- Invalid settings are rejected here, where the caller can correct them, not in later searches.
    complaint := _pgrag.setting_complaint(after);
    if complaint is not null then
        raise exception '%', complaint using errcode = 'PGR01';
    end if;
    perform _pgrag.check_arguments(
        'search', jsonb_build_object('query_expansion', after -> 'query_expansion')
    );
    perform _pgrag.strategy_for('', after ->> 'intent');

    if _pgrag.impact_settings(owner.settings) <> _pgrag.impact_settings(after) then
        perform _pgrag.rebuild_statistics(owner.library_id, after);
    end if;
    if owner.settings -> 'anchor_texts' <> after -> 'anchor_texts' then
        perform pgrag.refresh_anchor_texts(configure_library.library);
    end if;
    return (
        select r.settings
        from pgrag.libraries() as r
        where r.library = lower(btrim(configure_library.library))
    );
end;
$$;

comment on function pgrag.configure_library is
'Changes retrieval settings of a library (see default_settings) and returns the settings now in
force; null resets a setting to its default, also a part of field_weights, graph or
enrichment_limits. Changed field weights, k1 or b rewrite the library''s impacts in the same
transaction; a changed anchor_texts rewrites the passages that carry the words of links; a changed
overlap is read by the next run of pgrag index. Errors: PGR01, naming the setting; PGR02.';

-- The settings that the stored impacts depend on; all others are read at query time.
create or replace function _pgrag.impact_settings(
    settings jsonb
)
returns jsonb
language sql
immutable
parallel safe
as $$
    select pg_catalog.jsonb_build_array(
        impact_settings.settings -> 'field_weights', impact_settings.settings -> 'k1',
        impact_settings.settings -> 'b'
    );
$$;
