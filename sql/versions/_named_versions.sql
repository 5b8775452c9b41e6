-- The versions that the words of a query name: "in Jest 27", "v29.7", "version 3", "jest@next".
-- Most numbers name none (HTTP 404, Node 14, 3 workers): a number counts if the name of its
-- library, "version" or "v" marks it, or at the end of "is it in 27?"; and if no other noun claims
-- it ("API v2", "version 3 of the protocol"). After "since" or "to" it is a bound, and two versions
-- of one library name neither. A version that does not exist has a substitute or null.
create or replace function _pgrag.named_versions(
    query text,
    version_ids bigint[]
)
returns table (
    library_id bigint,
    default_id bigint,
    wish text,
    version_id bigint,
    reason text,
    is_substitute boolean
)
language plpgsql
stable
parallel safe
as $$
declare
    version_words constant text[] := '{version,versions,v,ver,release,версия,версии,версию,
        версией}';
    leads constant text[] := '{in,on,for,with,under,using,use,of,at,by,the,is,im,unter,mit,für,von,
        bei,der,die,в,во,на,для,у,о,под,при}';
    inner_leads constant text[] := '{in,im,under,unter,в,на}';
    genitives constant text[] := '{of,von,der,des,для}';
    bounds constant text[] := '{since,from,before,after,until,till,to,than,between,above,below,
        seit,ab,vor,nach,bis,als,auf,zu,zwischen,с,со,до,после,от,из,между}';
    pairs constant text[] := '{and,or,vs,versus,to,und,oder,bis,auf,и,или,до,на}';
    units constant text[] := '{times,ms,s,sec,seconds,minutes,hours,days,kb,mb,gb,percent,mal,
        sekunden,minuten,stunden,tage,раз,секунд,минут,часов,дней}';
    -- Quoted words and code are no versions. Few patterns, here and below: a session keeps only 32
    -- of them compiled.
    words constant text[] := array_remove(
        string_to_array(
            translate(
                lower(
                    case
                        when strpos(query, '"') > 0 or strpos(query, '`') > 0
                        then regexp_replace(left(query, 1000), '"[^"]*"|`[^`]*`', ' ` ', 'g')
                        else left(query, 1000)
                    end
                ),
                E'\n\r\t', '   '
            ),
            ' '
        ),
        ''
    );
    -- Ids name their library.
    libraries constant bigint[] := array(
        select v.id >> 12 from unnest(named_versions.version_ids) as v (id)
    );
    opening constant text := '([{';
    closing constant text := ')]}?!.,:;…';
    bare text[];
    ends boolean[];
    starts boolean[];
    parts text[];
    before integer;
    lead integer;
    is_marked boolean;
    is_free boolean;
    is_bound boolean;
    owner_id bigint;
    owners bigint[] := '{}';
    wishes text[] := '{}';
    are_bounds boolean[] := '{}';
    last_number integer := 0;
begin
    if not exists (
        select from pgrag.versions as v
        where v.version_id = any (named_versions.version_ids) and v.class <> 'unversioned'
    ) then
        return;
    end if;
    select
        array_agg(
            case when right(w.bare, 2) = '''s' then left(w.bare, -2) else w.bare end order by w.nth
        ),
        array_agg(strpos(closing, right(w.word, 1)) > 0 order by w.nth),
        array_agg(strpos(opening, left(w.word, 1)) > 0 order by w.nth)
    into bare, ends, starts
    from (
        select u.word, u.nth, rtrim(ltrim(u.word, opening), closing) as bare
        from unnest(words) with ordinality as u (word, nth)
    ) as w;

    for nth in 1..cardinality(words) loop
        is_marked := coalesce(bare[nth - 1] = any (version_words), false);
        parts := coalesce(
            regexp_match(
                bare[nth],
                '^(?:(.+)@)?(v?)(\d{1,9}(?:\.\d{1,9}){0,3}(?:\.x)?'
                    '|(?:\d{1,9}\.){2}\d{1,9}-[0-9a-z.-]+)$'
            ),
            case
                when is_marked or strpos(bare[nth], '@') > 0
                then regexp_match(bare[nth], '^(?:(.+)@)?()([a-z][0-9a-z._-]*)$')
            end
        );
        continue when parts is null or bare[nth + 1] = any (units) and not ends[nth];
        before := nth - 1 - is_marked::integer;
        is_marked := is_marked or parts[2] = 'v';

        -- The library: in front of the number, or after "of".
        select l.library_id, before - c.length
        into owner_id, lead
        from (
            values
                (parts[1], 0, parts[1] <> ''),
                (bare[before], 1, not ends[before]),
                (bare[before - 1] || bare[before], 2, not (ends[before - 1] or ends[before])),
                (bare[nth + 2], 0, bare[nth + 1] = any (genitives) and not ends[nth])
        ) as c (name, length, is_joined)
        join pgrag.libraries as l on translate(l.name, '-_. ', '') = translate(c.name, '-_. ', '')
        where c.is_joined and l.library_id = any (libraries)
        order by c.length
        limit 1;
        lead := coalesce(lead, before);
        is_free := lead < 1 or ends[lead] or starts[nth] or starts[lead + 1];
        is_bound := not is_free
            and (bare[lead] = any (bounds) or owner_id is null and bare[lead] = any (pairs));
        if owner_id is null then
            if not is_marked and bare[lead] = any (pairs) and last_number = lead - 1
                and last_number > 0
            then
                -- "Jest 26 vs 27": the second belongs to the library of the first.
                owner_id := owners[cardinality(owners)];
            elsif cardinality(named_versions.version_ids) = 1
                and (bare[nth + 1] = any (genitives) and not ends[nth]) is not true
                and (
                    is_marked and (is_free or is_bound or bare[lead] = any (leads))
                    or not is_free
                        and bare[lead] = any (inner_leads)
                        and (nth = cardinality(words) or ends[nth])
                )
            then
                owner_id := libraries[1];
            else
                continue;
            end if;
        end if;
        owners := owners || owner_id;
        wishes := wishes || parts[3];
        are_bounds := are_bounds || is_bound;
        last_number := nth;
    end loop;

    return query
    select n.library_id, d.version_id, n.wish, (f.version).version_id, f.reason, f.is_substitute
    from (
        select m.library_id, min(m.wish) as wish
        from unnest(owners, wishes, are_bounds) as m (library_id, wish, is_bound)
        group by m.library_id
        having count(distinct m.wish) = 1 and bool_or(not m.is_bound)
    ) as n
    join pgrag.versions as d
        on d.library_id = n.library_id and d.version_id = any (named_versions.version_ids)
    left join lateral _pgrag.fitting_version(n.library_id, n.wish) as f on true
    -- A number far from every version is none, nor is a word that is no label.
    where not f.is_substitute
        or (
            select max(split_part(v.release_key, '.', 1)::bigint) + 10
            from pgrag.versions as v
            where v.library_id = n.library_id
        ) >= substring(n.wish from '^\d+')::bigint;
end;
$$;
