create or replace function pgrag.answer_messages(
    question text,
    sources jsonb default '[]',
    template text default 'default'
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    unfit bigint;
begin
    if jsonb_typeof(sources) is distinct from 'array' or question is null then
        raise exception 'A question and an array of sources are needed.'
            using errcode = 'PGR01',
                hint = 'A source is an object as pgrag.quoted_sources returns it.';
    end if;
    select s.nth into unfit
    from jsonb_array_elements(sources) with ordinality as s (source, nth)
    where not (
        jsonb_typeof(s.source) = 'object'
        and coalesce(length(s.source ->> 'number') between 1 and 9, false)
        and translate(s.source ->> 'number', '0123456789', '') = ''
        and coalesce(jsonb_typeof(s.source -> 'content') = 'string', false)
        and coalesce(jsonb_typeof(s.source -> 'score') in ('number', 'null'), true)
        and coalesce(jsonb_typeof(s.source -> 'path') = 'array', true)
    )
    order by s.nth
    limit 1;
    if unfit is not null then
        raise exception 'Source % is none: %.',
            unfit, left((sources -> (unfit - 1)::integer)::text, 100)
            using errcode = 'PGR01',
                hint = 'A source is an object with a number and a content, as pgrag.quoted_sources'
                    ' and pgrag.answer_context return them.';
    end if;
    return _pgrag.filled_template(
        question,
        (
            select string_agg(
                _pgrag.source_block(s.source, (s.source ->> 'number')::integer), E'\n'
                order by s.nth
            )
            from jsonb_array_elements(sources) with ordinality as s (source, nth)
        ),
        template
    );
end;
$$;

comment on function pgrag.answer_messages is
'The messages that ask a language model to answer a question from sources: an array of two objects
with role (system, user) and content, ready for an OpenAI-compatible endpoint. They come from a
template of the configuration; sources are objects as in the column source of pgrag.quoted_sources,
quoted so that no passage can end its quotation, and cited by number. {question} and {sources} are
substituted in one pass: placeholders in a question or passage stay as text. Errors: PGR01 with
the existing templates, or with the first invalid source.';

-- The messages of a template with these blocks of sources.
create or replace function _pgrag.filled_template(
    question text,
    blocks text,
    template text
)
returns jsonb
language plpgsql
stable
parallel safe
as $$
declare
    used pgrag.answer_templates;
    ordinary pgrag.answer_templates;
begin
    select t.* into used from pgrag.answer_templates as t where t.name = lower(btrim(template));
    if used.name is null then
        raise exception 'There is no template %.', quote_nullable(left(template, 100))
            using errcode = 'PGR01',
                hint = coalesce(
                    (
                        select 'Templates: ' || string_agg(t.name, ', ' order by t.name) || '.'
                        from pgrag.answer_templates as t
                    ),
                    'None is stored: run `pgrag db upgrade`.'
                );
    end if;
    -- Other templates include the common instructions of the template "default".
    select t.* into ordinary from pgrag.answer_templates as t where t.name = 'default';
    if used.name <> 'default' then
        used.system := replace(used.system, '{default}', rtrim(ordinary.system, E'\n'));
        used.prompt := replace(used.prompt, '{default}', ordinary.prompt);
    end if;
    return jsonb_build_array(
        jsonb_build_object('role', 'system', 'content', used.system),
        jsonb_build_object(
            'role', 'user',
            'content',
            array_to_string(
                array(
                    select replace(p.part, '{question}', question)
                    from string_to_table(used.prompt, '{sources}')
                        with ordinality as p (part, nth)
                    order by p.nth
                ),
                coalesce(blocks, '(Nothing was found.)')
            )
        )
    );
end;
$$;
