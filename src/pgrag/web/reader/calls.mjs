// A search as text for other programs: exactly this one, each value quoted as its language wants.
// Names and values come from an address that anyone may have written. Names that no search has are
// left out, and what is not a number is quoted as a text, which the database then refuses.

/** The arguments of `GET /v1/search` that decide which hits there are, with their types. */
const TYPES = {
  library: "text", version: "text", top_k: "number", filters: "json", mode: "text",
  changed_since: "text", levels: "numbers", min_score: "number", min_confidence: "number",
  exclude: "texts", graph: "flag", prefix: "flag", alpha: "number", fusion: "text",
  rrf_k: "number", rrf_weights: "numbers", candidate_count: "number", page_evidence: "number",
  query_expansion: "text", model: "text", intent: "text", hierarchy: "text", unit: "text",
  aggregate: "text", mmr_lambda: "number", max_per_page: "number", page_decay: "number",
  group: "text", after: "text", rerank: "flag", rerank_depth: "number",
};

/** Hits of a page in a list that is grouped by page, where SQL has no `group`. */
const PAGE_HITS = 3;

/** The arguments as `[[name, type, value], …]`; lists are lists of texts, all else is text. */
function argumentsOf(request) {
  return Object.entries(TYPES).flatMap(([name, type]) => {
    const given = request[name];
    if (given === undefined || given === null || given === "") return [];
    if (type === "json") return [[name, type, jsonOf(given)]];
    if (type === "flag") return [[name, type, String(given) === "true"]];
    if (!type.endsWith("s")) return [[name, type, wellFormed(given)]];
    const items = Array.isArray(given) ? given : String(given).split(",");
    return [[name, type, items.map((item) => wellFormed(item).trim())]];
  });
}

/** As the address encodes it: halves of surrogate pairs become U+FFFD. */
const wellFormed = (text) => new TextDecoder().decode(new TextEncoder().encode(String(text)));

const jsonOf = (given) =>
  wellFormed(typeof given === "string" ? given : JSON.stringify(given)).trim();

const isNumber = (text) => /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text);

const isJson = (text) => {
  try {
    return JSON.parse(text) !== undefined;
  } catch {
    return false;
  }
};

const queryOf = (request) => wellFormed(request.q ?? "");

/** SQL, for psql or any driver. With `standard_conforming_strings`, backslashes are themselves. */
export function sql(request) {
  const text = (value) => `'${value.replaceAll("'", "''")}'`;
  const plain = (value) => (isNumber(value) ? value : text(value));
  const shown = {
    text, number: plain, flag: String,
    json: text,
    numbers: (values) => `array[${values.map(plain).join(", ")}]`,
    texts: (values) => `array[${values.map(text).join(", ")}]`,
  };
  const lines = [`query => ${text(queryOf(request))}`];
  for (const [name, type, value] of argumentsOf(request)) {
    if (name === "group") {
      if (value === "page") lines.push(`page_hits => ${PAGE_HITS}`);
    } else if (!name.startsWith("rerank")) {
      lines.push(`${name} => ${shown[type](name === "version" && value === "-" ? "" : value)}`);
    }
  }
  return `select document_id, score, title, heading, url, content\n`
    + `from pgrag.search(\n    ${lines.join(",\n    ")}\n);`;
}

const shell = (text) =>
  /^[\w.,:=@%+/^-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** A request to the service at `base`. A key is only ever the name of a variable. */
export function curl(request, { base, needs_key }) {
  const address = new URL("v1/search", base);
  Object.assign(address, { username: "", password: "", search: "", hash: "" });
  const given = [["q", queryOf(request)]];
  for (const [name, , value] of argumentsOf(request)) given.push([name, String(value)]);
  const lines = [`curl -G ${shell(address.href)}`];
  if (needs_key) lines.push('-H "Authorization: Bearer $PGRAG_KEY"');
  for (const [name, value] of given) lines.push(`--data-urlencode ${shell(`${name}=${value}`)}`);
  return lines.join(" \\\n    ");
}

/** Python, with the database that PGRAG_DATABASE_URL names. */
export function python(request) {
  const text = JSON.stringify;
  const plain = (value) => (isNumber(value) ? value : text(value));
  const list = (values, each) => `[${values.map(each).join(", ")}]`;
  const flag = (value) => (value ? "True" : "False");
  const shown = {
    text, number: plain, flag,
    json: (value) => (isJson(value) ? literal(value) : text(value)),
    numbers: (values) => list(values, plain),
    texts: (values) => list(values, text),
  };
  const lines = [text(queryOf(request))];
  for (const [name, type, value] of argumentsOf(request)) {
    lines.push(`${name}=${shown[type](name === "version" && value === "-" ? "" : value)}`);
  }
  return `import pgrag

with pgrag.connect() as db:
    result = db.search(
        ${lines.join(",\n        ")},
    )
    for hit in result:
        print(f"{hit.score:.2f}", hit.title, hit.url)`;
}

/** JSON as Python writes it; numbers stay as they are written, which JavaScript would round. */
const literal = (json) =>
  json.replace(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b|\s+/g, (token) => {
    if (token.startsWith('"')) return JSON.stringify(JSON.parse(token));
    return { true: "True", false: "False", null: "None" }[token] ?? " ";
  });

/** The command line, with the database that PGRAG_DATABASE_URL names. */
export function cli(request) {
  const words = ["pgrag search"];
  for (const [name, type, value] of argumentsOf(request)) {
    const option = name.replaceAll("_", "-");
    if (name === "mode") {
      if (value !== "hybrid") words.push(shell(`--${value}`));
    } else if (name === "group") {
      continue;
    } else if (type === "flag") {
      if (value) words.push(`--${option}`);
      else if (name === "graph") words.push("--no-graph");
    } else if (name === "exclude") {
      words.push(...value.map((each) => shell(`--exclude=${each}`)));
    } else {
      words.push(shell(`--${option}=${name === "version" && value === "-" ? "" : value}`));
    }
  }
  // Where people read, pages are one entry each, unless it is said otherwise.
  words.push(request.group === "page" ? "--group=page" : "--group=none");
  return `${words.join(" ")} -- ${shell(queryOf(request))}`;
}

const TOOL_ARGUMENTS = [
  "library", "version", "top_k", "filters", "min_confidence", "exclude", "changed_since", "mode",
];
const MOST_PASSAGES = 50;

/** A call of a tool over MCP; `without` names the arguments that the tool does not have. */
export function mcp(request) {
  // Agents are not shown what hardly answers, and no long replies, unless they ask for them.
  const all = { top_k: "10", min_confidence: "0", ...request };
  const given = argumentsOf(all);
  const lines = [`"query": ${JSON.stringify(queryOf(request))}`];
  for (const [name, type, value] of given.filter(([name]) => TOOL_ARGUMENTS.includes(name))) {
    lines.push(`"${name}": ${inJson(name === "top_k" ? fewer(value) : value, type)}`);
  }
  lines.push('"token_budget": 20000');
  const is_idle = ([name, , value]) =>
    TOOL_ARGUMENTS.includes(name) || value === "none" || value === false;
  return {
    text: `{
  "jsonrpc": "2.0",
  "id": 1,
  "method": "tools/call",
  "params": {
    "name": "search_docs",
    "arguments": {
      ${lines.join(",\n      ")}
    }
  }
}`,
    without: given.filter((each) => !is_idle(each)).map(([name]) => name),
  };
}

const fewer = (value) => (Number(value) > MOST_PASSAGES ? String(MOST_PASSAGES) : value);

function inJson(value, type) {
  const is_written = type === "json" ? isJson(value) : type === "number" && isJson(value);
  return is_written ? value : JSON.stringify(value);
}

/** A link in Markdown to a passage, whatever its title has in it. */
export function markdown({ title, heading, address }) {
  const words = heading && heading !== title ? `${title} › ${heading}` : title;
  const label = words.replace(/\s+/g, " ").replace(/[\\[\]<>`*_&!]/g, "\\$&");
  const target = new URL(address).href.replaceAll("(", "%28").replaceAll(")", "%29");
  return `[${label}](${target})`;
}
