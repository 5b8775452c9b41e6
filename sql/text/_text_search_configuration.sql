-- Maps language codes to the text search configurations that PostgreSQL ships.
create or replace function _pgrag.text_search_configuration(
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
            cross join (
                select pg_catalog.lower(
                    pg_catalog.btrim(text_search_configuration.language)
                ) as language
            ) as stated
            where stated.language = configurations.name
                or pg_catalog.regexp_replace(stated.language, '[-_].*', '') = configurations.code
        ),
        'simple'
    );
$$;
