// A search as its address states it, and the arguments of the request that it stands for.

/** Filters that readers choose among the counts, under the names that requests give them. */
export const FILTERS = ["type", "path", "topic", "tags", "content_tags", "language"];
export const MODES = ["hybrid", "keyword", "semantic"];
/** Pages of hits per request; while the reader types, as many as a screen shows. */
export const PAGES = 20;
export const FIRST_PAGES = 8;
const MOST_PAGES = 1000;

const FORMS = {
  mode: (text) => MODES.includes(text),
  graph: (text) => text === "true" || text === "false",
  prefix: (text) => text === "true",
  count: (text) => /^\d{1,4}$/.test(text) && text >= 1 && text <= MOST_PAGES,
  hit: (text) => /^\d{1,19}$/.test(text),
  page: (text) => /^\d{1,19}$/.test(text),
};

/** The parameters whose values mean something, and those that do not as `[[name, value], …]`. */
export function checked(params) {
  const wrong = Object.entries(params).filter(([name, text]) => FORMS[name]?.(text) === false);
  const right = { ...params };
  for (const [name] of wrong) delete right[name];
  return { right, wrong };
}

/** The values of a filter: in an address they are separated by commas, `\,` is a comma in one. */
export const valuesOf = (text) =>
  (text?.match(/(?:\\.|[^,\\])+/gs) ?? []).map((value) => value.replace(/\\(.)/gs, "$1"));

const textOf = (values) => values.map((value) => value.replace(/[\\,]/g, "\\$&")).join(",");

/** The text of a filter with a value more, or without it if it was chosen. */
export function toggled(text, value) {
  const values = valuesOf(text);
  const others = values.filter((each) => each !== value);
  return textOf(others.length < values.length ? others : [...values, value]);
}

const chosenFilters = (params) =>
  FILTERS.map((name) => [name, valuesOf(params[name])]).filter(([, values]) => values.length);

/** Without words, a filter alone lists what has it: the query says it in its own language. */
const quoted = (value) => `"${value.replace(/["\\]/g, "\\$&")}"`;
const asWords = ([name, values]) => `${name}:(${values.map(quoted).join(",")})`;

/**
 * The arguments of the search, as GET names them; null if there is nothing to search for.
 * `library` is the only one that there is, where the address names none.
 */
export function argumentsOf(params, library) {
  const filters = chosenFilters(params);
  const words = params.q?.trim() ? params.q : filters.map(asWords).join(" ");
  if (!words) return null;
  const mode = params.mode ?? "hybrid";
  return {
    q: words,
    library: params.library ?? library,
    version: params.version,
    filters: params.q?.trim() && filters.length ? Object.fromEntries(filters) : undefined,
    changed_since: params.changed_since,
    mode: mode === "hybrid" ? undefined : mode,
    graph: mode === "hybrid" ? params.graph : undefined,
    // The vector of half a word means nothing: only words have beginnings.
    prefix: mode === "semantic" ? undefined : params.prefix,
    group: "page",
  };
}

/** Whether the address narrows the search by more than words, library and version. */
export const isNarrowed = (params) =>
  FILTERS.some((name) => params[name]) || Boolean(params.changed_since);

/** The address of the same words without what narrows them. */
export function widened(params) {
  const { q, library, version, mode, graph } = params;
  return { q, library, version, mode, graph };
}
