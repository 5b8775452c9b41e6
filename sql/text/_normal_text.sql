-- One form of each character: composed (NFC), compatible (ligatures, full width), without soft
-- hyphens, characters of no width and marks that no letter combines with. A superscript after a
-- word of four letters or more is a footnote, and one after a digit an exponent: no part of either.
create or replace function _pgrag.normal_text(
    input text
)
returns text
language plpgsql
immutable
strict
parallel safe
as $$
declare
    -- Soft hyphen, characters of no width or for directions, variation selectors; accents and the
    -- points of Arabic and Hebrew.
    vanishing constant text := U&'[\00AD\200B-\200F\202A-\202E\2060-\2064\2066-\206F\FEFF'
        '\FE00-\FE0F\0300-\036F\0591-\05BD\05BF\05C1\05C2\05C4\05C5\05C7\0610-\061A\0640\064B-\065F'
        '\0670\06D6-\06DC\06DF-\06E8\06EA-\06ED\1AB0-\1AFF\1DC0-\1DFF\20D0-\20FF]';
    normal text := input;
begin
    if pg_catalog.octet_length(normal) = pg_catalog.length(normal) then
        return normal;
    end if;
    if normal is not nfkc normalized then
        normal := normalize(
            pg_catalog.translate(
                pg_catalog.regexp_replace(
                    normal, U&'(\\w{4}|\\d)(?=[\00B2\00B3\00B9\2070-\2079])', '\1 ', 'g'
                ),
                U&'\2122\2120\00BC\00BD\00BE', '     '
            ),
            nfkc
        );
    end if;
    if normal ~ vanishing then
        normal := pg_catalog.regexp_replace(normal, vanishing, '', 'g');
    end if;
    return normal;
end;
$$;

-- A text without diacritics, word for word; the same text if it has none. The letter й is its own.
create or replace function _pgrag.folded_text(
    input text
)
returns text
language plpgsql
immutable
strict
parallel safe
as $$
declare
    folded text;
begin
    if pg_catalog.octet_length(input) = pg_catalog.length(input) then
        return input;
    end if;
    if input !~ U&'[\00C0-\00D6\00D8-\00F6\00F8-\024F\0386-\0390\03AA-\03B0\03CA-\03CE\0401\0403'
        '\0407\040C\040E\0451\0453\0457\045C\045E\093C\0622-\0626\0629\0649\0671\1E00-\1FFF]'
    then
        return input;
    end if;
    -- Composed again, because Korean syllables and the voiced kana are decomposed as well.
    folded := normalize(
        pg_catalog.regexp_replace(
            pg_catalog.replace(
                pg_catalog.replace(
                    normalize(input, nfd), U&'\0438\0306', U&'\0439'
                ),
                U&'\0418\0306', U&'\0419'
            ),
            U&'[\0300-\036F\0653-\0655\093C]', '', 'g'
        ),
        nfc
    );
    folded := pg_catalog.translate(
        folded,
        U&'\0131\0142\0141\00F8\00D8\0111\0110\00F0\00D0\0127\0126\0167\0166\0649\0629\0671',
        U&'ilLoOdDdDhHtT\064A\0647\0627'
    );
    if pg_catalog.translate(folded, U&'\00DF\1E9E\00E6\00C6\0153\0152\00FE\00DE', '')
        <> folded
    then
        folded := pg_catalog.replace(folded, U&'\00DF', 'ss');
        folded := pg_catalog.replace(folded, U&'\1E9E', 'SS');
        folded := pg_catalog.replace(folded, U&'\00E6', 'ae');
        folded := pg_catalog.replace(folded, U&'\00C6', 'AE');
        folded := pg_catalog.replace(folded, U&'\0153', 'oe');
        folded := pg_catalog.replace(folded, U&'\0152', 'OE');
        folded := pg_catalog.replace(folded, U&'\00FE', 'th');
        folded := pg_catalog.replace(folded, U&'\00DE', 'Th');
    end if;
    return folded;
end;
$$;
