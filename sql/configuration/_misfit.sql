-- The error in the value of a field of a configuration entry; null if the value is valid. A list of
-- names may be empty, a list of phrases may not.
create or replace function _pgrag.misfit(
    field text,
    value jsonb
)
returns text
language sql
immutable
parallel safe
as $$
    -- Branches on the type of the value first, because a cast in another branch might still run.
    select case
        when not case jsonb_typeof(value)
            when 'number'
            then f.type = 'number'
                and value::numeric between f.lowest and f.highest
                and _pgrag.is_measurable(value::numeric)
            when 'string' then f.type = 'string' and value #>> '{}' ~ f.pattern
            when 'array'
            then (
                f.type = 'names'
                or f.type in ('numbers', 'texts') and jsonb_array_length(value) > 0
            ) and not exists (
                select
                from jsonb_array_elements(value) as e (element)
                where jsonb_typeof(element) <> (
                        case when f.type = 'numbers' then 'number' else 'string' end
                    )
                    or element #>> '{}' !~ f.pattern
                    or (f.type = 'names' and length(element #>> '{}') > 300)
            )
            else false
        end
        then format('must be %s, got %s.', f.form, left(value::text, 100))
    end
    -- The type, a pattern for a text or each text of a list, the bounds of a number, and all of
    -- this in words.
    from (
        values
            ('description', 'string', '', null::numeric, null::numeric, 'a text'),
            ('levels', 'numbers', '^[012]$', null, null, 'a list of 0, 1 and 2'),
            ('alpha', 'number', null, 0, 1, 'a number from 0 to 1'),
            ('alpha_offset', 'number', null, -1, 1, 'a number from -1 to 1'),
            ('confidence', 'number', null, 0, 1, 'a number from 0 to 1'),
            ('unit', 'string', '^(document|page)$', null, null, 'document or page'),
            ('aggregate', 'string', '^(max|mean|rrf)$', null, null, 'max, mean or rrf'),
            ('hierarchy', 'string', '^(none|depth|breadth|overview)$', null, null,
                'none, depth, breadth or overview'),
            ('language', 'string', '^(any|de|en|ru)$', null, null, 'any, de, en or ru'),
            ('words', 'texts', '^[^|]*\w[^|]*$', null, null, 'a list of phrases without "|"'),
            ('pattern', 'string', '\S', null, null, 'a regular expression'),
            ('shape', 'string', '^(filters|quoted|identifier|path|name)$', null, null,
                'filters, quoted, identifier, path or name'),
            ('intent', 'string', '\S', null, null, 'the name of an intent'),
            ('query_type', 'string', '\S', null, null, 'the name of a query type'),
            ('folders', 'names', '^(?!.*(\\|\[[^\]]*\[)).*\S', null, null,
                'a list of folders or patterns such as notes/**/*.md'),
            ('chunk_profile', 'string', '^(by_heading|by_meaning|short|medium|long)$', null, null,
                'by_heading, by_meaning, short, medium or long'),
            ('edge_defaults', 'names', '^[a-z][a-z0-9_]{0,49}$', null, null,
                'a list of names of kinds, such as part_of'),
            ('retriever_weight', 'number', null, 0, 10, 'a number from 0 to 10'),
            ('asked_by', 'names', '^(?!.*[[:upper:]])[[:alnum:]]+( [[:alnum:]]+)*\*?$', null, null,
                'a list of phrases in lower case, without punctuation except a * at the end'),
            ('weight', 'number', null, 0, 10, 'a number from 0 to 10'),
            ('link_keys', 'names', '\S', null, null, 'a list of front matter keys'),
            ('inject', 'names', '\S', null, null, 'a list of front matter keys'),
            ('template', 'string', '\S', null, null, 'the name of a template'),
            ('inject_types', 'names', '\S', null, null, 'a list of types of pages'),
            ('system', 'string', '\S', null, null, 'a text'),
            ('prompt', 'string',
                '\{default\}|\{question\}.*\{sources\}|\{sources\}.*\{question\}', null, null,
                'a text with {question} and {sources}, or with {default}')
    ) as f (field, type, pattern, lowest, highest, form)
    where f.field = misfit.field;
$$;
