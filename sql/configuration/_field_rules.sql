-- The rules of the fields of configuration entries, in the form of argument_rules. A field that is
-- also an argument of searches has the argument's rule.
create or replace function _pgrag.field_rules()
returns jsonb
language sql
immutable
parallel safe
as $$
    select _pgrag.argument_rules() -> 'arguments' || '{
        "description": {"type": "string"},
        "levels": {"type": "array", "shortest": 1, "choices": [0, 1, 2],
            "form": "a list of 0, 1 and 2"},
        "alpha_offset": {"type": "number", "minimum": -1, "maximum": 1},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        "graph": {"type": "boolean",
            "form": "true, false, or an object like {\"search\": true, \"depth\": 2}"},
        "language": {"type": "string", "choices": ["any", "de", "en", "ru"]},
        "words": {"type": "array", "shortest": 1, "pattern": "^[^|]*\\w[^|]*$",
            "form": "a list of phrases without \"|\""},
        "pattern": {"type": "string", "pattern": "\\S", "form": "a regular expression"},
        "shape": {"type": "string", "choices": ["filters", "quoted", "identifier", "path",
            "page", "name"]},
        "intent": {"type": "string", "pattern": "\\S", "form": "the name of an intent"},
        "query_type": {"type": "string", "pattern": "\\S", "form": "the name of a query type"},
        "template": {"type": "string", "pattern": "\\S", "form": "the name of a template"},
        "inject_types": {"type": "array", "pattern": "\\S", "form": "a list of types of pages"},
        "folders": {"type": "array", "pattern": "^(?!.*(\\\\|\\[[^\\]]*\\[)).*\\S",
            "form": "a list of folders or patterns such as notes/**/*.md"},
        "chunk_profile": {"type": "string",
            "choices": ["by_heading", "by_meaning", "short", "medium", "long"]},
        "edge_defaults": {"type": "array", "pattern": "^[a-z][a-z0-9_]{0,49}$",
            "form": "a list of names of kinds, such as part_of"},
        "retriever_weight": {"type": "number", "minimum": 0, "maximum": 10},
        "asked_by": {"type": "array",
            "pattern": "^(?!.*[[:upper:]])[[:alnum:]]+( [[:alnum:]]+)*\\*?$",
            "form": "a list of phrases in lower case, without punctuation except a * at the end"},
        "weight": {"type": "number", "minimum": 0, "maximum": 10},
        "link_keys": {"type": "array", "pattern": "\\S", "form": "a list of front matter keys"},
        "inject": {"type": "array", "pattern": "\\S", "form": "a list of front matter keys"},
        "system": {"type": "string", "pattern": "\\S"},
        "prompt": {"type": "string",
            "pattern": "\\{default\\}|\\{question\\}.*\\{sources\\}|\\{sources\\}.*\\{question\\}",
            "form": "a text with {question} and {sources}, or with {default}"}
    }'::jsonb;
$$;
