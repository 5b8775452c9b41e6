-- One table from the language codes that people write to the configurations that PostgreSQL ships.
create or replace function pgrag.text_search_configuration(
    language text
)
returns text
language sql
immutable
parallel safe
as $$
    select coalesce(
        (
            select configurations.name
            from (values
                ('ar', 'arabic'), ('hy', 'armenian'), ('eu', 'basque'), ('ca', 'catalan'),
                ('da', 'danish'), ('nl', 'dutch'), ('en', 'english'), ('fi', 'finnish'),
                ('fr', 'french'), ('de', 'german'), ('el', 'greek'), ('hi', 'hindi'),
                ('hu', 'hungarian'), ('id', 'indonesian'), ('ga', 'irish'), ('it', 'italian'),
                ('lt', 'lithuanian'), ('ne', 'nepali'), ('no', 'norwegian'), ('nb', 'norwegian'),
                ('nn', 'norwegian'), ('pt', 'portuguese'), ('ro', 'romanian'), ('ru', 'russian'),
                ('sr', 'serbian'), ('es', 'spanish'), ('sv', 'swedish'), ('ta', 'tamil'),
                ('tr', 'turkish'), ('yi', 'yiddish')
            ) as configurations (code, name)
            where pg_catalog.lower(pg_catalog.btrim(text_search_configuration.language))
                in (configurations.code, configurations.name)
                or pg_catalog.split_part(
                    pg_catalog.replace(
                        pg_catalog.lower(pg_catalog.btrim(text_search_configuration.language)),
                        '_',
                        '-'
                    ),
                    '-',
                    1
                ) = configurations.code
        ),
        'simple'
    );
$$;

comment on function pgrag.text_search_configuration(text) is
'The PostgreSQL text search configuration for a language given as an ISO 639-1 code (de, en-US) or
by its English name (german). Any other language gets "simple": words as they stand, no stemming.';
