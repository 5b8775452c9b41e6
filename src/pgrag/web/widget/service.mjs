// Requests of the search box: the public routes that a publishable key may call.

const PAGES = 7;

/** Why a request got no answer: the service's problem document, or a `type` of our own. */
export class Problem extends Error {
  constructor({ type = "", detail = "" }, status = 0, wait = 0) {
    super(detail);
    Object.assign(this, { kind: type.replace("/problems/", ""), status, wait });
  }
}

export class Service {
  constructor(address, host) {
    this.address = address;
    this.host = host;
  }

  get key() {
    return this.host.getAttribute("key")?.trim() ?? "";
  }

  /** Whether the key is one that must not be in a page: it is never sent. */
  get hasSecret() {
    return this.key.startsWith("pgrag_sk_");
  }

  #scope(version) {
    const library = this.host.getAttribute("library");
    return { ...(library && { library }), ...(version && { version }) };
  }

  /** A GET without headers of its own, so that the browser sends it at once: see docs/widget.md. */
  async #get(path, parameters, options = {}) {
    const address = new URL(path, this.address);
    const given = this.key ? { ...parameters, key: this.key } : parameters;
    address.search = new URLSearchParams(given);
    return (await sent(address, options)).json();
  }

  async #post(path, body, options = {}) {
    const headers = { "Content-Type": "application/json", ...options.headers };
    if (this.key) headers.Authorization = `Bearer ${this.key}`;
    const address = new URL(path, this.address);
    return sent(address, { ...options, method: "POST", headers, body: JSON.stringify(body) });
  }

  /** Search; while letters come, the last word is a beginning, and no record is kept. */
  search(query, version, { isTyping, signal }) {
    return this.#get("v1/search", {
      ...this.#scope(version),
      q: query, prefix: true, snippets: true, group: "page", top_k: PAGES, record: !isTyping,
    }, isTyping ? { signal } : { keepalive: true });
  }

  async suggestions(query, version, signal) {
    const asked = { ...this.#scope(version), q: query };
    const { suggestions } = await this.#get("v1/suggestions", asked, { signal });
    return suggestions.map((each) => each.suggestion);
  }

  /** The versions of the library, the highest first; empty for a single one. */
  async versions() {
    const scope = { ...this.#scope("*"), value_count: 100 };
    const { facets } = await this.#get("v1/facets", scope);
    const order = new Intl.Collator("en", { numeric: true });
    const found = (facets.version ?? []).map((each) => each.value || "-");
    return found.length > 1 ? found.sort((one, other) => order.compare(other, one)) : [];
  }

  rate(searchId, rating, comment) {
    const body = { search_id: searchId, rating, ...(comment && { comment }) };
    return this.#post("v1/feedback", body, { keepalive: true });
  }

  /** Whether answers are set up, and the key may ask for them. */
  async answers() {
    const { answers, may } = await this.#get("v1/service", {});
    return answers.configured && may.answer;
  }

  /** The events of an answer as they come, as `[name, data]`. */
  async* ask(question, version, signal) {
    const body = { ...this.#scope(version), question, stream: true };
    const answer = await this.#post("v1/answer", body, { signal });
    let text = "";
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let piece; !(piece = await reader.read()).done; ) {
      text += piece.value;
      for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
        const [, name, data] = /^event:\s(\w+)\ndata:\s(.*)$/m.exec(text.slice(0, end)) ?? [];
        if (name === "error") throw new Problem(JSON.parse(data), 502);
        if (name) yield [name, JSON.parse(data)];
      }
    }
  }
}

async function sent(address, options) {
  let answer;
  try {
    answer = await fetch(address, { credentials: "omit", ...options });
  } catch (fault) {
    throw fault.name === "AbortError" ? fault : new Problem({ type: "unreachable" });
  }
  if (answer.ok) return answer;
  const told = await answer.json().catch(() => ({}));
  throw new Problem(told, answer.status, Number(answer.headers.get("Retry-After")) || 1);
}

/** Where a hit leads: an address of the web, on the site that `base` names; null for none. */
export function addressOf(hit, base) {
  let address;
  try {
    address = new URL(hit.url || hit.link);
  } catch {
    return null;
  }
  if (!/^https?:$/.test(address.protocol)) return null;
  if (hit.anchor) address.hash = hit.anchor;
  if (!base) return address.href;
  const [to, from = `${address.origin}/`] = base.trim().split(/\s+/).reverse();
  if (!address.href.startsWith(from)) return address.href;
  const folder = new URL(to.replace(/\/?$/, "/"), document.baseURI);
  return folder.href + address.href.slice(from.length).replace(/^\//, "");
}
