-- Scripts that put no spaces between words, and Korean, which adds particles to them, are searched
-- by pairs of neighbouring characters: 数据库 becomes 数据 据库. A character with its marks counts as
-- one; where the script changes, a new run begins; a run of one character is doubled, so that it is
-- no beginning of another word.
create or replace function _pgrag.with_bigrams(
    input text
)
returns text
language sql
immutable
parallel safe
as $$
    select pg_catalog.regexp_replace(
        pg_catalog.regexp_replace(
            pg_catalog.regexp_replace(
                pg_catalog.regexp_replace(with_bigrams.input, _pgrag.runs(), ' \& ', 'g'),
                c.cluster, '\&\&', 'g'
            ),
            c.cluster || '((?:' || c.cluster || '){2,})' || c.cluster, '\1', 'g'
        ),
        '(?:' || c.cluster || '){2}', '\& ', 'g'
    )
    from (select '[' || _pgrag.letters() || '][' || _pgrag.marks() || ']*' as cluster) as c;
$$;

-- Each character of Chinese, Japanese and Korean, as a query of one character asks for it.
create or replace function _pgrag.single_characters(
    input text
)
returns text
language sql
immutable
parallel safe
as $$
    select ' ' || pg_catalog.regexp_replace(
        pg_catalog.regexp_replace(
            single_characters.input,
            U&'[^\3400-\4DBF\4E00-\9FFF\AC00-\D7A3\+020000-\+02FFFF]+', ' ', 'g'
        ),
        '\S', '\&\& ', 'g'
    );
$$;

create or replace function _pgrag.has_bigrams(
    input text
)
returns boolean
language sql
immutable
parallel safe
as $$
    select has_bigrams.input ~ ('[' || _pgrag.letters() || ']');
$$;

-- A query without what names nothing but would make pairs with the words beside it: Hiragana behind
-- other letters (particles and endings), Chinese words that ask, join or point. Unless little else
-- is there. Lookarounds spare words like 目的, 总和, 了解.
create or replace function _pgrag.without_particles(
    words text
)
returns text
language sql
immutable
parallel safe
as $$
    select case
        when not _pgrag.has_bigrams(without_particles.words) then without_particles.words
        else (
            select case when n.naming ~ '\w\s*\w' then n.naming else without_particles.words end
            from (
                select pg_catalog.regexp_replace(
                    without_particles.words,
                    U&'(?<=[^\3041-\309F\\s])[\3041-\309F]+|为什么|什么|怎么样?|怎样|如何|哪[些个里]|是否|能否|可以'
                        '|应该|[这那][个些]|一[个些]|没有|不[能想]|时候|[之以]后|[吗呢吧很让给被与]|把(?!手)|了(?!解)'
                        '|着(?!色)|或(?!许)|(?<![目标])的|(?<![总求饱亲温缓共])和(?![谐平解睦气弦])',
                    ' ', 'g'
                ) as naming
            ) as n
        )
    end;
$$;

-- Runs of one script: Han, Hiragana, Katakana, Hangul, Thai, Lao, Myanmar, Khmer.
create or replace function _pgrag.runs()
returns text
language sql
immutable
parallel safe
as $$
    select U&'[\3005-\3007\3400-\4DBF\4E00-\9FFF\+020000-\+02FFFF]+'
        '|[\3041-\3096\3099\309A\309D-\309F]+|[\30A1-\30FA\30FC-\30FF\31F0-\31FF\3099\309A]+'
        '|[\AC00-\D7A3]+|[\0E01-\0E3A\0E40-\0E4E]+'
        '|[\0E81-\0EDF]+|[\1000-\103F\1050-\108F]+|[\1780-\17D3\17D7\17DC\17DD]+';
$$;

-- Their letters and their marks, as the inside of [].
create or replace function _pgrag.letters()
returns text
language sql
immutable
parallel safe
as $$
    select U&'\3005-\3007\3041-\3096\309D-\309F\30A1-\30FA\30FC-\30FF\31F0-\31FF\3400-\4DBF'
        '\4E00-\9FFF\AC00-\D7A3\+020000-\+02FFFF\0E01-\0E30\0E32\0E33\0E40-\0E46\0E81-\0EB0'
        '\0EB2\0EB3\0EBD-\0EC6\0EDC-\0EDF\1000-\102A\103F\1050-\1055\105A-\105D\1061\1065\1066'
        '\106E-\1070\1075-\1081\1780-\17B3\17D7\17DC';
$$;

create or replace function _pgrag.marks()
returns text
language sql
immutable
parallel safe
as $$
    select U&'\3099\309A\0E31\0E34-\0E3A\0E47-\0E4E\0EB1\0EB4-\0EBC\0EC8-\0ECE\102B-\103E'
        '\1056-\1059\105E-\1060\1062-\1064\1067-\106D\1071-\1074\1082-\108F\17B4-\17D3\17DD';
$$;
