-- Text of pages as a language model reads it: between <TAG …> and </TAG>, which no text can forge.
-- Inlined, if the content is a column; format() is not immutable, and would prevent that.
create or replace function _pgrag.quoted(
    tag text,
    attributes text,
    content text
)
returns text
language sql
immutable
parallel safe
as $$
    select '<' || quoted.tag || coalesce(quoted.attributes, '') || E'>\n'
        || coalesce(_pgrag.quotable(quoted.content), '') || E'\n</' || quoted.tag || '>';
$$;

-- A title or another name of a page as a part of a line beside a quotation, or of its attributes.
create or replace function _pgrag.quoted_line(
    value text
)
returns text
language sql
immutable
parallel safe
as $$
    select pg_catalog.translate(
        _pgrag.quotable(coalesce(quoted_line.value, '')),
        E'"<>\n\r\t\u2028\u2029\u0085', E'\'()      '
    );
$$;

-- A text without anything that looks like a tag of a quotation: its "<", however it is written,
-- becomes the entity, and one that is an entity already is escaped once more. A bracket that only
-- resembles "<" needs a slash. One with a blank behind it, and neither ">" nor an attribute
-- behind the name, compares or shifts: a << source.
create or replace function _pgrag.quotable(
    content text
)
returns text
language sql
immutable
parallel safe
as $$
    select case
        when quotable.content ~ ('[<&%\\\uFF1C\uFE64\u2039\u00AB\u3008\u2329\u27E8'
            || '\u276E\u2770\u02C2\u227A\u29FC\u1438]')
        then pg_catalog.regexp_replace(
            pg_catalog.regexp_replace(
                quotable.content,
                '(?:&(?:lt|LT|#0*60|#[xX]0*3[cC]);?|%3[cC]|\\(?:u00|x|u\{)3[cC]\}?)'
                    || _pgrag.quotation_mark(),
                '&amp;lt;\1', 'g'
            ),
            '(?:[<\uFF1C\uFE64](?![\t ]+[A-Za-z]+[\t ]*(?:[^\t >=A-Za-z]|$))'
                || '|[\u2039\u00AB\u3008\u2329\u27E8\u276E\u2770\u02C2\u227A\u29FC\u1438]'
                || '(?=[\u0001-\u0020]*[/\uFF0F\u2044\u2215\u29F8\u2571]))'
                || _pgrag.quotation_mark(),
            '&lt;\1', 'g'
        )
        else quotable.content
    end;
$$;

-- What follows the bracket of the tags <source and <passage, opening or closing, as a model may
-- read them: in any case, alphabet or style (@), with slashes (=), and with blanks, accents and
-- invisible characters (_) in between. src/pgrag/ground/quoting.py has the same expression.
create or replace function _pgrag.quotation_mark()
returns text
language sql
immutable
parallel safe
as $$
    select pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(
        '((?:_|[=]|&(?:#0*47|#[xX]0*2[fF]|sol);|%2[fF])*(?:'
            || '[sS5$\u017F\u0455\u0405@]_{0,3}[oO0\u043E\u041E\u03BF\u039F@]_{0,3}'
            || '[uU\u057D\u03C5@]_{0,3}[rR\u0433\u0413@]_{0,3}'
            || '[cC\u0441\u0421\u03F2\u03F9@]_{0,3}[eE\u0435\u0415\u03B5\u0395@]|'
            || '[pP\u0440\u0420\u03C1\u03A1@]_{0,3}[aA\u0430\u0410\u03B1\u0391@]_{0,3}'
            || '[sS5$\u017F\u0455\u0405@]_{0,3}[sS5$\u017F\u0455\u0405@]_{0,3}'
            || '[aA\u0430\u0410\u03B1\u0391@]_{0,3}[gG\u0581\u050C@]_{0,3}'
            || '[eE\u0435\u0415\u03B5\u0395@])(?![A-Za-z0-9]))',
        '_',
        '[\u0001-\u0020\u0085\u00A0\u00AD\u0300-\u036F\u061C\u115F\u1160\u180B-\u180F\u2000-\u200F'
            || '\u2028-\u202F\u205F-\u206F\u3000\u3164\uFE00-\uFE0F\uFEFF\uFFA0'
            || '\U0001D173-\U0001D17A\U000E0000-\U000E0FFF]'
    ), '@',
        '\u00C0-\u024F\u13A0-\u13F5\u1E00-\u1EFF\uAB70-\uABBF'
            || '\uFF21-\uFF5A\u0250-\u02B8\u1D00-\u1DBF\u2070-\u209C\u2100-\u214F\u24B6-\u24E9'
            || '\uA730-\uA731\U0001D400-\U0001D7FF\U0001F130-\U0001F189'
    ), '=', '/\\\uFF0F\uFF3C\u2044\u2215\u29F8\u2571');
$$;
