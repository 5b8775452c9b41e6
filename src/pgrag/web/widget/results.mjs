// What the search box shows. Texts of pages become text nodes: no page can bring markup.

/** An element with attributes, listeners and children; false and null children are left out. */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(key, value === true ? "" : value);
    }
  }
  element.append(...children.flat().filter((child) => child !== false && child != null));
  return element;
}

/** The glass before the field. */
export function glass() {
  const of = (name, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  const svg = of("svg", {
    width: 18, height: 18, viewBox: "0 0 20 20", fill: "none", stroke: "currentColor",
    "stroke-width": 1.8, "aria-hidden": "true",
  });
  svg.append(of("circle", { cx: 8.5, cy: 8.5, r: 6 }), of("path", { d: "m13 13 5 5" }));
  return svg;
}

/** A text whose marked words are between `**`, as nodes. */
export function marked(text) {
  return text.split("**").map((part, nth) => (nth % 2 ? make("mark", {}, part) : part));
}

const isPlain = (event) =>
  !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button);

/** A row of the list: `go(event)` when it is chosen, unless the browser opens it elsewhere. */
export function option(content, { href = null, go, parts = "hit" }) {
  return make("a", {
    class: "hit", part: parts, role: "option", tabindex: "-1", "aria-selected": "false", href,
    click: (event) => {
      if (!isPlain(event) && href) return;
      event.preventDefault();
      go(event);
    },
  }, content);
}

export function group(label, options, id) {
  const heading = make("div", { class: "group", part: "page", id }, label);
  return make("div", { role: "group", "aria-labelledby": id }, heading, options);
}

/** The pages of a search, each with its passages. */
export function pages(found, { addressOf, lead }) {
  return found.pages.map((page, nth) => {
    const rows = page.hits.map((hit) => {
      const title = hit.heading || hit.title;
      const href = addressOf(hit);
      const content = [
        make("b", { part: "title" }, title),
        make("span", { part: "excerpt" }, marked((hit.snippet ?? "").replace(/\s+/g, " "))),
      ];
      return option(content, { href, go: () => lead(hit, href) });
    });
    const above = page.hits[0]?.path ?? [];
    const label = [...new Set([...above.slice(0, -1), page.title])].slice(-3).join(" › ");
    return group(label || page.key, rows, `page-${nth}`);
  });
}

/** An answer: its text with links to the sources, and sentences marked that no source backs. */
export function answer({ text, sources, sentences = [] }, { addressOf, words }) {
  // Offsets of the service count characters, those of scripts count UTF-16 units.
  const letters = [...text];
  const pieces = [];
  let end = 0;
  for (const sentence of sentences) {
    pieces.push(...cited(letters.slice(end, sentence.start).join(""), sources, addressOf));
    const own = cited(letters.slice(sentence.start, sentence.end).join(""), sources, addressOf);
    pieces.push(
      ...(sentence.is_supported || !sentence.doubt
        ? own
        : [make("span", { class: "doubt", part: "doubt", title: words.doubtful }, own)]),
    );
    end = sentence.end;
  }
  pieces.push(...cited(letters.slice(end).join(""), sources, addressOf));
  return pieces;
}

function cited(text, sources, addressOf) {
  return text.split(/(\[\d+\])/).map((part) => {
    const number = /^\[(\d+)\]$/.exec(part)?.[1];
    const source = sources.find((each) => String(each.number) === number);
    const href = source && addressOf(source);
    return href ? make("a", { href, part: "citation" }, part) : part;
  });
}

export function sourceList(sources, text, { addressOf, words }) {
  const cites = sources.filter((each) => text.includes(`[${each.number}]`));
  if (!cites.length) return [];
  const rows = cites.map((source) => {
    const title = [...new Set([source.title, source.heading])].filter(Boolean).join(" › ");
    const href = addressOf(source);
    return make("li", { value: source.number }, href ? make("a", { href }, title) : title);
  });
  return [make("div", { class: "group" }, words.sources), make("ol", { class: "sources" }, rows)];
}
