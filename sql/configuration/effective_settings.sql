-- A library's settings, completed by the defaults.
create or replace function pgrag.effective_settings(
    settings jsonb
)
returns jsonb
language sql
immutable
parallel safe
as $$
    select _pgrag.default_settings()
        || effective_settings.settings
        || pg_catalog.jsonb_build_object(
            'field_weights',
            (_pgrag.default_settings() -> 'field_weights')
                || coalesce(effective_settings.settings -> 'field_weights', '{}'),
            'graph',
            (_pgrag.default_settings() -> 'graph')
                || coalesce(effective_settings.settings -> 'graph', '{}'),
            'enrichment_limits',
            (_pgrag.default_settings() -> 'enrichment_limits')
                || coalesce(effective_settings.settings -> 'enrichment_limits', '{}')
        );
$$;

comment on function pgrag.effective_settings is
'A library''s settings, completed by the defaults.';

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
