-- The lock on the library row serialises its writers, because they share the library's statistics.
-- Readers, and writers of other libraries, do not wait.
create or replace function pgrag.open_version(
    library text,
    version text default '',
    language text default null,
    source jsonb default null,
    model text default null,
    out library_id bigint,
    out version_id bigint,
    out configuration text,
    out settings jsonb,
    out base_url text
)
returns record
language plpgsql
volatile
set search_path from current
as $$
declare
    library_name text := lower(btrim(open_version.library));
    version_label text := lower(btrim(coalesce(open_version.version, '')));
    wanted_code constant text := case
        when open_version.language is not null
        then coalesce(_pgrag.language_code(open_version.language), 'und')
    end;
    wanted_model bigint := _pgrag.model_id(open_version.model);
begin
    perform _pgrag.require_lease();
    perform _pgrag.require_target(library_name, version_label);
    perform _pgrag.check_base_url(open_version.source ->> 'base_url');
    perform _pgrag.check_location(open_version.source ->> 'location');
    -- Again, if discard_version removes the library between the two statements.
    loop
        select l.library_id, l.language, _pgrag.effective_settings(l.settings)
        into open_version.library_id, open_version.configuration, open_version.settings
        from pgrag.libraries as l
        where l.name = library_name
        for no key update;
        exit when found;
        perform _pgrag.require_target(library_name, version_label);
        insert into pgrag.libraries as l (name, language, language_code, model_id)
        values (
            library_name,
            _pgrag.text_search_configuration(coalesce(open_version.language, 'en')), wanted_code,
            coalesce(wanted_model, _pgrag.model_id(_pgrag.builtin_model()))
        )
        on conflict (name) do nothing;
    end loop;

    if open_version.language is not null then
        open_version.configuration := _pgrag.text_search_configuration(open_version.language);
        update pgrag.libraries as l
        set language = open_version.configuration, language_code = wanted_code
        where l.library_id = open_version.library_id
            and l.language_code is distinct from wanted_code;
    end if;

    -- A number is sought only for a version that is new.
    insert into pgrag.versions as v (
        library_id, version_id, label, class, release_key, prerelease, source
    )
    values (
        open_version.library_id,
        coalesce(
            (
                select v.version_id
                from pgrag.versions as v
                where v.library_id = open_version.library_id and v.label = version_label
            ),
            _pgrag.new_version_id(open_version.library_id)
        ),
        version_label, _pgrag.version_class(version_label), _pgrag.release_key(version_label),
        coalesce(_pgrag.release_key(version_label) !~ '~$', false),
        coalesce(open_version.source, '{}')
    )
    on conflict on constraint versions_library_id_label_key do update
    set source = coalesce(open_version.source, v.source)
    returning v.version_id, coalesce(v.source ->> 'base_url', '')
    into open_version.version_id, open_version.base_url;
end;
$$;

comment on function pgrag.open_version is
'Finds or creates a library and one of its versions, locks the library for writing until the end of
the transaction, and returns the ids, the text search configuration, the effective settings and the
base address that is left out of searched and embedded texts. language is that of pages which
neither state nor clearly show one; source (jsonb) is stored with the version. Errors: PGR01 for
invalid names, PGR02 for a library that a role without a grant of "*" cannot see, and so may not
create, PGR09 for an unknown model.';

create or replace function _pgrag.check_names(
    library text,
    version text
)
returns void
language plpgsql
immutable
parallel safe
as $$
begin
    if library is null or library !~ '^[a-z0-9][a-z0-9._/-]{0,99}$' then
        raise exception 'The library name % cannot be used.', quote_nullable(library)
            using errcode = 'PGR01',
                hint = 'Use 1 to 100 letters, digits, dots, dashes, underscores or slashes.';
    end if;
    if length(version) > 100
        or version ~ ('[\s@*\u0001-\u001F\u007F-\u009F\u200B-\u200F\u2028-\u202E'
            || '\u2060-\u206F\uFEFF\U000E0000-\U000E0FFF]')
    then
        raise exception 'The version label % cannot be used.', quote_literal(version)
            using errcode = 'PGR01',
                hint = 'Use up to 100 visible characters, without spaces, @ or *.';
    end if;
    if version = '-' or version ~ '^[~^<>=|]' then
        raise exception 'The version label % cannot be used.', quote_literal(version)
            using errcode = 'PGR01',
                hint = 'A search that names it means another one: "-" is the version without a'
                    ' label, "^1" a range.';
    end if;
end;
$$;

-- The addresses of all pages begin with it.
create or replace function _pgrag.check_base_url(
    base_url text
)
returns void
language plpgsql
immutable
parallel safe
as $$
declare
    fault constant text := case
        when check_base_url.base_url ~* '^\s*mailto:' then 'nothing is published there'
        else _pgrag.address_fault(check_base_url.base_url)
    end;
begin
    if fault is not null then
        raise exception 'The base_url % cannot be used: %.',
            quote_literal(left(check_base_url.base_url, 200)), fault
            using errcode = 'PGR01', hint = 'Give one like https://docs.example/guide.';
    end if;
end;
$$;

-- The location of a source is a path, or an address also of git: whatever runs nothing.
create or replace function _pgrag.check_location(
    location text
)
returns void
language plpgsql
immutable
parallel safe
as $$
begin
    if check_location.location ~* '^[[:space:][:cntrl:]]*(javascript|vbscript|data):' then
        raise exception 'The location % of a source cannot be used.',
            quote_literal(left(check_location.location, 200))
            using errcode = 'PGR01', hint = 'Give a folder, or an address such as https://….';
    end if;
end;
$$;

-- Asked before a run, a job or a lock of a version does anything else: whoever sees only some
-- libraries must not make others, nor learn by an error or a wait which exist.
create or replace function _pgrag.require_target(
    library text,
    version text
)
returns void
language plpgsql
stable
parallel safe
as $$
declare
    library_name constant text := lower(btrim(require_target.library));
begin
    perform _pgrag.check_names(library_name, lower(btrim(require_target.version)));
    if row_security_active('pgrag.libraries')
        and not _pgrag.sees_every_library()
        and not exists (select from pgrag.libraries as l where l.name = library_name)
    then
        raise exception 'There is no library %, and % may not create one.',
            quote_literal(library_name), _pgrag.caller()
            using errcode = 'PGR02', hint = 'Ask an administrator to create and grant it.';
    end if;
end;
$$;
