-- Texts of which every match of an expression has at least one, in lower case; null if none are
-- known. Each alternative gives those of one of its parts: what is not literal, or may be missing,
-- gives none. An expression with syntax beyond that of common rules gives none.
create or replace function _pgrag.required_parts(
    expression text
)
returns text[]
language plpgsql
immutable
parallel safe
as $$
declare
    tokens constant text[] := array(
        select m[1]
        from regexp_matches(
            regexp_replace(expression, '^\(\?[cimnps]+\)', ''),
            '(\\.|\[\^?\]?(?:\\.|\[[:.=][^]]*\]|[^]\\])*\]|\(\?<?[=!]|\(\?:'
                '|[*+?]\??|\{[\d,]*\}\??|.)',
            'g'
        ) as m
    );
    found text[] := '{}';
    -- Of the alternative so far, of its next part, and the literal characters just read.
    best text[];
    parts text[];
    run text := '';
    letter text;
    token text;
    depth integer;
    nth integer := 1;
    opened integer;
begin
    if expression ~ '^\*\*\*|^\(\?[a-z]*[^):=!cimnps]|\\[^sSdDwWmMyY[:punct:]]' then
        return null;
    end if;
    while nth <= cardinality(tokens) + 1 loop
        token := coalesce(tokens[nth], '|');
        parts := null;
        letter := case
            when token ~ '^\\[[:punct:]]$' then right(token, 1)
            when token ~ '^\[[[:alpha:]]{2}\]$' and lower(substr(token, 2, 1)) = substr(token, 3, 1)
            then substr(token, 3, 1)
            when length(token) = 1 and token !~ '[|(^$.*+?]' then lower(token)
        end;
        if token ~ '^(\\d|\[[0-9-]+\])$' then
            parts := '{0,1,2,3,4,5,6,7,8,9}';
        elsif token like '(%' then
            opened := nth;
            depth := 1;
            while depth > 0 loop
                nth := nth + 1;
                depth := depth + case
                    when tokens[nth] like '(%' then 1
                    when coalesce(tokens[nth], ')') = ')' then -1
                    else 0
                end;
            end loop;
            if token in ('(', '(?:', '(?=') then
                parts := _pgrag.required_parts(array_to_string(tokens[opened + 1:nth - 1], ''));
            end if;
        end if;
        if tokens[nth + 1] ~ '^([*?]|\{0)' then
            parts := null;
        else
            run := run || coalesce(letter, '');
        end if;
        if letter is null or tokens[nth + 1] ~ '^[*+?{]' then
            best := _pgrag.rarer_parts(_pgrag.rarer_parts(best, array[run]), parts);
            run := '';
        end if;
        if token = '|' then
            if best is null then
                return null;
            end if;
            found := found || best;
            best := null;
        end if;
        nth := nth + 1;
    end loop;
    return found;
end;
$$;

-- Which parts fewer texts have, by their looks: digits are rare, a single letter rules nothing out.
create or replace function _pgrag.rarer_parts(
    one text[],
    other text[]
)
returns text[]
language sql
immutable
parallel safe
as $$
    select p.parts
    from (values (rarer_parts.one), (rarer_parts.other)) as p (parts)
    cross join lateral (
        select case when p.parts @> '{0,9}' then 3 else min(least(length(u.part), 4)) end as length
        from unnest(p.parts) as u (part)
    ) as shortest
    where shortest.length > 1
    order by shortest.length desc, cardinality(p.parts)
    limit 1;
$$;
