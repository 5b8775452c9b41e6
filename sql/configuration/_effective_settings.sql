-- A library's settings, completed by the defaults.
create or replace function _pgrag.effective_settings(
    settings jsonb
)
returns jsonb
language sql
immutable
parallel safe
as $$
    select _pgrag.default_settings() || effective_settings.settings || (
        select pg_catalog.jsonb_object_agg(
            d.key, d.value || coalesce(effective_settings.settings -> d.key, '{}')
        )
        from pg_catalog.jsonb_each(_pgrag.default_settings()) as d
        where pg_catalog.jsonb_typeof(d.value) = 'object'
    );
$$;

-- One setting, not within an object. Inlined, it costs a tenth of effective_settings.
create or replace function _pgrag.setting(
    settings jsonb,
    name text
)
returns text
language sql
immutable
parallel safe
as $$
    select coalesce(
        setting.settings -> setting.name, _pgrag.default_settings() -> setting.name
    ) #>> '{}';
$$;
