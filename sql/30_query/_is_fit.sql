-- What each field of a configuration's entry may hold; _check_configuration has the words for it.
create or replace function pgrag._is_fit(
    field text,
    value jsonb
)
returns boolean
language sql
immutable
parallel safe
set search_path from current
as $$
    select case field
        when 'levels'
        then case
            when jsonb_typeof(value) = 'array'
            then value <@ '[0, 1, 2]' and jsonb_array_length(value) > 0
            else false
        end
        when 'words'
        then case
            when jsonb_typeof(value) = 'array'
            then jsonb_array_length(value) > 0 and not exists (
                select
                from jsonb_array_elements(value) as w
                where jsonb_typeof(w) <> 'string' or w #>> '{}' !~ '\w' or w #>> '{}' ~ '[|]'
            )
            else false
        end
        when 'folders' then pgrag._are_texts(value, '^(?!.*(\\|\[[^\]]*\[)).*\S')
        when 'edge_defaults' then pgrag._are_texts(value, '^[a-z][a-z0-9_]{0,49}$')
        when 'link_keys' then pgrag._are_texts(value, '\S')
        when 'inject' then pgrag._are_texts(value, '\S')
        when 'inject_types' then pgrag._are_texts(value, '\S')
        when 'alpha_offset'
        then case
            when jsonb_typeof(value) = 'number' then value::numeric between -1 and 1
            else false
        end
        when 'synonym_weight'
        then case
            when jsonb_typeof(value) = 'number' then value::numeric > 0 and value::numeric <= 1
            else false
        end
        when 'mutual' then jsonb_typeof(value) = 'boolean'
        else case
            when field in ('alpha', 'confidence')
            then case
                when jsonb_typeof(value) = 'number' then value::numeric between 0 and 1
                else false
            end
            when field in ('retriever_weight', 'weight')
            then case
                when jsonb_typeof(value) = 'number' then value::numeric between 0 and 10
                else false
            end
            when jsonb_typeof(value) <> 'string' then false
            when field = 'chunk_profile'
            then value #>> '{}' in ('by_heading', 'by_meaning', 'short', 'medium', 'long')
            when field = 'unit' then value #>> '{}' in ('document', 'page')
            when field = 'aggregate' then value #>> '{}' in ('max', 'mean', 'rrf')
            when field = 'hierarchy'
            then value #>> '{}' in ('none', 'depth', 'breadth', 'overview')
            when field = 'language' then value #>> '{}' in ('any', 'de', 'en', 'ru')
            when field = 'shape'
            then value #>> '{}' in ('filters', 'quoted', 'identifier', 'path', 'name')
            when field = 'description' then true
            when field = 'prompt'
            then value #>> '{}' like '%{default}%'
                or value #>> '{}' like '%{question}%' and value #>> '{}' like '%{sources}%'
            else value #>> '{}' ~ '\S'
        end
    end;
$$;

-- Whether a value is a list, empty or not, of texts of which each is as the pattern says.
create or replace function pgrag._are_texts(
    value jsonb,
    pattern text
)
returns boolean
language sql
immutable
parallel safe
set search_path from current
as $$
    select case
        when jsonb_typeof(value) = 'array'
        then not exists (
            select
            from jsonb_array_elements(value) as t
            where jsonb_typeof(t) <> 'string'
                or t #>> '{}' !~ pattern
                or length(t #>> '{}') > 300
        )
        else false
    end;
$$;
