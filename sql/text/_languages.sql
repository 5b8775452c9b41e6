-- The languages that pages may name: codes of ISO 639-1 and a few others, text search
-- configurations (simple where PostgreSQL has none), and what else people write: names in several
-- languages, other codes; lower case, Latin letters without accents.
create or replace function _pgrag.languages()
returns table (
    code text,
    configuration text,
    names text
)
language sql
immutable
parallel safe
as $$
    values
        ('en', 'english', 'english|eng|en_us|englisch|anglais|ingles|английский|inglese'),
        ('de', 'german', 'german|deu|ger|deutsch|allemand|aleman|немецкий|tedesco'),
        ('fr', 'french', 'french|fra|fre|francais|franzosisch|frances|французский|francese'),
        ('es', 'spanish', 'spanish|spa|espanol|castellano|spanisch|espagnol|испанский|spagnolo'),
        ('pt', 'portuguese', 'portuguese|por|portugues|portugiesisch|portugais|португальский'),
        ('pt-BR', 'simple', 'brazilian portuguese|portugues do brasil|portugues brasileiro'),
        ('it', 'italian', 'italian|ita|italiano|italienisch|italien|итальянский'),
        ('nl', 'dutch',
            'dutch|nld|dut|nederlands|niederlandisch|neerlandais|голландский|нидерландский|'
            'flemish|vlaams'),
        ('sv', 'swedish', 'swedish|swe|svenska|schwedisch|шведский'),
        ('da', 'danish', 'danish|dan|dansk|danisch|датский'),
        ('no', 'norwegian', 'norwegian|nor|norsk|norwegisch|норвежский'),
        ('nb', 'norwegian', 'nob|bokmal|norsk bokmal|norwegian bokmal'),
        ('nn', 'norwegian', 'nno|nynorsk|norsk nynorsk|norwegian nynorsk'),
        ('fi', 'finnish', 'finnish|fin|suomi|finnisch|финский'),
        ('pl', 'simple', 'polish|pol|polski|polnisch|polonais|польский'),
        ('cs', 'simple', 'czech|ces|cze|cz|cestina|cesky|tschechisch|чешский'),
        ('sk', 'simple', 'slovak|slk|slo|slovencina|slovensky|slowakisch|словацкий'),
        ('hu', 'hungarian', 'hungarian|hun|magyar|ungarisch|венгерский'),
        ('ro', 'romanian', 'romanian|ron|rum|romana|rumanisch|румынский|moldavian'),
        ('ca', 'catalan', 'catalan|cat|catala|katalanisch|valencian'),
        ('eu', 'basque', 'basque|eus|baq|euskara|baskisch'),
        ('tr', 'turkish', 'turkish|tur|turkce|turkisch|турецкий'),
        ('id', 'indonesian', 'indonesian|ind|bahasa indonesia|bahasa|indonesisch|индонезийский'),
        ('lt', 'lithuanian', 'lithuanian|lit|lietuviu|litauisch|литовский'),
        ('lv', 'simple', 'latvian|lav|latviesu|lettisch|латышский'),
        ('ga', 'irish', 'irish|gle|gaeilge|irisch|gaelic'),
        ('vi', 'simple', 'vietnamese|vie|tieng viet|vietnamesisch|вьетнамский'),
        ('hr', 'simple', 'croatian|hrv|hrvatski|kroatisch|хорватский|bosnian|bosanski'),
        ('sl', 'simple', 'slovenian|slovene|slv|slovenscina|slowenisch|словенский'),
        ('et', 'simple', 'estonian|est|eesti|estnisch|эстонский'),
        ('ru', 'russian',
            'russian|rus|русский|на русском|по-русски|russisch|russe|ruso|russo|russkij|russkiy'),
        ('uk', 'simple', 'ukrainian|ukr|ua|українська|украинский|ukrainisch'),
        ('bg', 'simple', 'bulgarian|bul|български|bulgarisch|болгарский'),
        ('sr', 'serbian', 'serbian|srp|српски|srpski|serbisch|сербский'),
        ('mk', 'simple', 'macedonian|mkd|mac|македонски|mazedonisch'),
        ('be', 'simple', 'belarusian|bel|беларуская|белорусский|weissrussisch|belarussisch'),
        ('el', 'greek', 'greek|ell|gre|gr|ελληνικά|ελληνικα|griechisch|греческий'),
        ('hy', 'armenian', 'armenian|hye|arm|հայերեն|armenisch|армянский'),
        ('ka', 'simple', 'georgian|kat|geo|ქართული|georgisch|грузинский'),
        ('he', 'simple', 'hebrew|heb|iw|עברית|hebraisch|иврит'),
        ('yi', 'yiddish', 'yiddish|yid|ייִדיש|jiddisch'),
        ('ar', 'arabic', 'arabic|ara|العربية|arabisch|arabe|арабский'),
        ('fa', 'simple', 'persian|farsi|fas|per|فارسی|persisch|персидский'),
        ('ur', 'simple', 'urdu|urd|اردو'),
        ('hi', 'hindi', 'hindi|hin|हिन्दी|हिंदी|хинди'),
        ('ne', 'nepali', 'nepali|nep|नेपाली'),
        ('mr', 'simple', 'marathi|mar|मराठी'),
        ('ta', 'tamil', 'tamil|tam|தமிழ்'),
        ('bn', 'simple', 'bengali|bangla|ben|বাংলা'),
        ('te', 'simple', 'telugu|tel|తెలుగు'),
        ('th', 'simple', 'thai|tha|ไทย|ภาษาไทย|thailandisch|тайский'),
        ('lo', 'simple', 'lao|ລາວ'),
        ('km', 'simple', 'khmer|khm|ខ្មែរ'),
        ('my', 'simple', 'burmese|myanmar|mya|bur|မြန်မာ'),
        ('am', 'simple', 'amharic|amh|አማርኛ'),
        ('ko', 'simple', 'korean|kor|한국어|koreanisch|coreen|корейский'),
        ('zh', 'simple',
            'chinese|zho|chi|cmn|mandarin|cn|中文|汉语|漢語|chinesisch|chinois|chino|китайский'),
        ('zh-Hans', 'simple', 'simplified chinese|简体中文|zh-chs'),
        ('zh-Hant', 'simple', 'traditional chinese|繁體中文|正體中文|zh-cht'),
        ('ja', 'simple', 'japanese|jpn|jp|日本語|japanisch|japonais|japones|японский'),
        ('und', 'simple', 'simple'),
        ('aa', 'simple', null), ('ab', 'simple', null), ('ae', 'simple', null),
        ('af', 'simple', 'afrikaans'), ('ak', 'simple', null), ('an', 'simple', null),
        ('as', 'simple', null), ('av', 'simple', null), ('ay', 'simple', null),
        ('az', 'simple', 'azerbaijani'), ('ba', 'simple', null), ('bh', 'simple', null),
        ('bi', 'simple', null), ('bm', 'simple', null), ('bo', 'simple', null),
        ('br', 'simple', null), ('bs', 'simple', 'bosnian latin'), ('ce', 'simple', null),
        ('ch', 'simple', null), ('co', 'simple', null), ('cr', 'simple', null),
        ('cu', 'simple', null), ('cv', 'simple', null), ('cy', 'simple', 'welsh|cymraeg'),
        ('dv', 'simple', null), ('dz', 'simple', null), ('ee', 'simple', null),
        ('eo', 'simple', 'esperanto'), ('ff', 'simple', null), ('fj', 'simple', null),
        ('fo', 'simple', null), ('fy', 'simple', null), ('gd', 'simple', null),
        ('gl', 'simple', 'galician|galego'), ('gn', 'simple', null), ('gu', 'simple', 'gujarati'),
        ('gv', 'simple', null), ('ha', 'simple', null), ('ho', 'simple', null),
        ('ht', 'simple', null), ('hz', 'simple', null), ('ia', 'simple', null),
        ('ie', 'simple', null), ('ig', 'simple', null), ('ii', 'simple', null),
        ('ik', 'simple', null), ('io', 'simple', null), ('is', 'simple', 'icelandic|islenska'),
        ('iu', 'simple', null), ('jv', 'simple', null), ('kg', 'simple', null),
        ('ki', 'simple', null), ('kj', 'simple', null), ('kk', 'simple', 'kazakh|қазақша'),
        ('kl', 'simple', null), ('kn', 'simple', 'kannada'), ('kr', 'simple', null),
        ('ks', 'simple', null), ('ku', 'simple', null), ('kv', 'simple', null),
        ('kw', 'simple', null), ('ky', 'simple', null), ('la', 'simple', 'latin|latina'),
        ('lb', 'simple', null), ('lg', 'simple', null), ('li', 'simple', null),
        ('ln', 'simple', null), ('lu', 'simple', null), ('mg', 'simple', null),
        ('mh', 'simple', null), ('mi', 'simple', null), ('ml', 'simple', 'malayalam'),
        ('mn', 'simple', 'mongolian'), ('ms', 'simple', 'malay|bahasa melayu'),
        ('mt', 'simple', null), ('na', 'simple', null), ('nd', 'simple', null),
        ('ng', 'simple', null), ('nr', 'simple', null), ('nv', 'simple', null),
        ('ny', 'simple', null), ('oc', 'simple', null), ('oj', 'simple', null),
        ('om', 'simple', null), ('or', 'simple', null), ('os', 'simple', null),
        ('pa', 'simple', 'punjabi'), ('pi', 'simple', null), ('ps', 'simple', null),
        ('qu', 'simple', null), ('rm', 'simple', null), ('rn', 'simple', null),
        ('rw', 'simple', null), ('sa', 'simple', null), ('sc', 'simple', null),
        ('sd', 'simple', null), ('se', 'simple', null), ('sg', 'simple', null),
        ('sh', 'simple', null), ('si', 'simple', null), ('sm', 'simple', null),
        ('sn', 'simple', null), ('so', 'simple', null), ('sq', 'simple', 'albanian|shqip'),
        ('ss', 'simple', null), ('st', 'simple', null), ('su', 'simple', null),
        ('sw', 'simple', 'swahili|kiswahili'), ('tg', 'simple', null), ('ti', 'simple', null),
        ('tk', 'simple', null), ('tl', 'simple', 'tagalog'), ('tn', 'simple', null),
        ('to', 'simple', null), ('ts', 'simple', null), ('tt', 'simple', null),
        ('tw', 'simple', null), ('ty', 'simple', null), ('ug', 'simple', null),
        ('uz', 'simple', 'uzbek'), ('ve', 'simple', null), ('vo', 'simple', null),
        ('wa', 'simple', null), ('wo', 'simple', null), ('xh', 'simple', null),
        ('yo', 'simple', null), ('za', 'simple', null), ('zu', 'simple', null),
        ('ast', 'simple', null), ('fil', 'simple', 'filipino'), ('gsw', 'simple', null),
        ('haw', 'simple', null), ('nds', 'simple', null), ('hsb', 'simple', null),
        ('yue', 'simple', 'cantonese|粵語'), ('ceb', 'simple', null), ('ckb', 'simple', null);
$$;

-- How texts show their language: the code points of the script (null: Latin), letters and words
-- that its neighbours hardly have, and other frequent words.
create or replace function _pgrag.language_signs()
returns table (
    code text,
    script int4range,
    letters text,
    signs text,
    words text
)
language sql
immutable
parallel safe
as $$
    select s.code, s.script::int4range, '[' || s.letters || ']', s.signs, s.words
    from (values
        ('en', null, null, 'the and of is this with that are you',
            'to in for a an on as be it by or not from if can your when will how what which why '
            'who do does i we at has have was where'),
        ('de', null, null, 'der und das ist nicht mit den von auf',
            'die ein eine in zu für im dem des sich als auch es an werden wird bei sind wie oder '
            'kann so wenn aus nach zum zur wo was wer welche warum ich wir hat einen einer man'),
        ('fr', null, null, 'les et est une pour dans des le',
            'la de à un en que qui du sur au par plus ne pas ce il elle avec sont ou vous nous '
            'cette aux comment où quel quelle pourquoi je son'),
        ('es', null, null, 'el los las y es una del con',
            'de la que en un por para se no al lo como más o su si este esta son pero cómo qué '
            'dónde cuál cuándo quién sus muy'),
        ('pt', null, null, 'o os não uma do da em é',
            'a de que e um para com no na se por mais as dos como ao das ou seu sua onde são você '
            'quando qual quem isso'),
        ('it', null, null, 'il che di è della per gli non',
            'la e un una in con i si le da del sono dei al alla come più nel questo o dove cosa '
            'quando perché chi anche'),
        ('nl', null, null, 'het een van zijn niet voor met dat',
            'de en in is op te die of aan er als bij ook om wordt worden naar je deze kan hoe '
            'waar wat wie waarom'),
        ('sv', null, null, 'och att är som inte för ett på',
            'det en i den med har till de av om kan från eller så när hur vad var man'),
        ('da', null, null, 'og er af ikke til på det at',
            'en i for som med den de har et kan vil fra eller om hvad hvordan hvor efter skal'),
        ('no', null, null, 'og er av ikke til på det å',
            'en i for som med den de har et kan vil fra eller om hva hvordan hvor etter skal'),
        ('fi', null, null, 'ja on ei että se ovat kun',
            'hän niin tai mutta myös jos joka sen voi ole tämä kuin mitä miten missä'),
        ('pl', null, null, 'nie się jest do na że w z',
            'i to o jak co dla po ale od przez są lub tego oraz być gdzie czy który które'),
        ('cs', null, null, 'je se na že v do pro jsou',
            'a s z to o nebo ale jak k by si tak jeho které který kde co při'),
        ('sk', null, null, 'je sa na že v do pre sú',
            'a s z to o alebo ale ako k by si tak jeho ktoré ktorý kde čo pri'),
        ('hu', null, null, 'az és hogy nem egy van is',
            'a ez de ha meg azt lehet csak mint vagy kell hogyan hol mi'),
        ('ro', null, null, 'și este nu la cu pentru din sau',
            'de în a un o care să mai pe ce sunt al prin cum unde'),
        ('ca', null, null, 'els les i per amb és dels aquest',
            'el la que de un una en no del al com més o són'),
        ('eu', null, null, 'eta da ez bat du dira dute hau', 'ere izan egin baina edo nola'),
        ('tr', null, null, 've bir bu için ile değil olarak',
            'de da ne en daha olan gibi veya çok nasıl nerede'),
        ('id', null, null, 'yang dan di dengan untuk tidak dari ini',
            'itu adalah pada ke dalam atau akan bisa juga oleh bagaimana'),
        ('lt', null, null, 'ir kad yra į su iš bei', 'tai ne ar kaip bet per buvo gali kur'),
        ('lv', null, null, 'un ir ar no kas uz lai vai', 'tas par nav kā kur bet pie'),
        ('ga', null, null, 'agus na ar ag atá sé go', 'an le i ní tá bhí nó'),
        ('vi', null, null, 'và của là không các có được cho',
            'một trong với những khi để này người'),
        ('hr', null, null, 'je i se na su za nije ili', 'u da od ne to kao o koji što gdje kako'),
        ('sl', null, null, 'je in se na za ki ni ali', 'da v s z so pa kot kje kako'),
        ('et', null, null, 'ja ei et ka või see kui', 'on oma mis kuidas kus'),
        ('ru', '[1024,1328)', 'ыэё', 'что это или его если при также можно чтобы',
            'и в не на с как для по из но от или к а так за же то где о у бы при кто '
            'когда можно нужно быть все'),
        ('uk', '[1024,1328)', 'іїєґ', null, 'і в не на що з як для та це до за або від є й у по'),
        ('bg', '[1024,1328)', 'ъ', 'да със това този',
            'и в на за не е се от с по като как или са до при'),
        ('sr', '[1024,1328)', 'јљњћђџ', 'је', 'и у на за се да су од не са као или што'),
        ('mk', '[1024,1328)', 'ѓќѕ', 'во со дека што', 'и на за не е да се од по како или ова'),
        ('be', '[1024,1328)', 'ўі', null, 'і ў не на што з як для гэта па да або ад'),
        ('el', '[880,1024)', null, 'και το να', 'του η της με που την από για'),
        ('hy', '[1328,1424)', null, 'և է են', 'որ մեջ'),
        ('ka', '[4256,4352)', null, 'და არის', 'რომ'),
        ('he', '[1424,1536)', null, 'של את על', 'לא הוא זה עם'),
        ('yi', '[1424,1536)', null, 'און איז פֿון דער', 'די אַ ניט צו'),
        ('ar', '[1536,1920)', 'ةىأإ', null, 'في من على إلى أن هذا التي'),
        ('fa', '[1536,1920)', 'پچژگکی', null, 'و در به از که این را است'),
        ('ur', '[1536,1920)', 'ٹڈڑےں', null, 'کے میں کی ہے اور سے'),
        ('hi', '[2304,2432)', null, 'है में के हैं', 'और का की से को'),
        ('ne', '[2304,2432)', null, 'छ हो र छन्', 'को मा का'),
        ('mr', '[2304,2432)', null, 'आहे आणि आहेत', 'या व मध्ये'),
        ('ta', '[2944,3072)', null, null, null),
        ('bn', '[2432,2560)', null, null, null),
        ('te', '[3072,3200)', null, null, null),
        ('th', '[3584,3712)', null, null, null),
        ('lo', '[3712,3840)', null, null, null),
        ('km', '[6016,6144)', null, null, null),
        ('my', '[4096,4256)', null, null, null),
        ('am', '[4608,4992)', null, null, null),
        ('ko', '[44032,55204)', null, null, null),
        ('zh', '[12353,40960)', '的是在了和有不这為个', null, null),
        ('ja', '[12353,40960)', 'ぁ-ヺ', null, null)
    ) as s (code, script, letters, signs, words);
$$;

-- Of each frequent word the codes of its languages, with weights: {"der": {"de": 3}}.
create or replace function _pgrag.language_words()
returns jsonb
language sql
immutable
parallel safe
as $$
    select jsonb_object_agg(l.word, l.weights)
    from (
        select w.word, jsonb_object_agg(s.code, w.weight) as weights
        from _pgrag.language_signs() as s
        cross join lateral (
            select string_to_table(s.signs, ' '), 3
            union all
            select string_to_table(s.words, ' '), 1
        ) as w (word, weight)
        group by w.word
    ) as l;
$$;

-- The configuration of each code.
create or replace function _pgrag.language_configurations()
returns jsonb
language sql
immutable
parallel safe
as $$
    select jsonb_object_agg(l.code, l.configuration) from _pgrag.languages() as l;
$$;

-- Both as constants: the first search of each session would spend milliseconds on making them.
do $$
declare
    name text;
    made jsonb;
begin
    foreach name in array '{language_words, language_configurations}'::text[] loop
        execute format('select _pgrag.%I()', name) into made;
        execute format(
            'create or replace function _pgrag.%I() returns jsonb language sql immutable'
            ' parallel safe as %L',
            name, format('select %L::pg_catalog.jsonb', made)
        );
    end loop;
end;
$$;
