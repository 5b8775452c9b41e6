// What the search box shows. Texts of pages become text nodes: no page can bring markup.

/**
 * An element with attributes, listeners and children. A class is also a part, which a site may
 * style.
 */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value != null) element.setAttribute(key, value);
    if (key === "class") element.part = value;
  }
  element.append(...children.flat());
  return element;
}

/** A text whose marked words are between `**`, and code between backticks, as nodes. */
export function marked(text = "") {
  const isPaired = text.split("`").length % 2;
  let isMark = false;
  let isCode = false;
  return text.replace(/\s+/g, " ").split(isPaired ? /(\*\*|\x60)/ : /(\*\*)/).map((part) => {
    if (part === "**") isMark = !isMark;
    else if (part === "`" && isPaired) isCode = !isCode;
    else {
      const inner = isCode ? make("code", {}, part) : part;
      return isMark ? make("mark", {}, inner) : inner;
    }
    return "";
  });
}

/** A row of the list: `go()` when it is chosen, unless the browser opens it elsewhere. */
export function option(content, { href, go }) {
  return make("a", {
    class: "hit", role: "option", tabindex: "-1", "aria-selected": "false", href,
    click: (event) => {
      if (href && (event.ctrlKey || event.metaKey || event.shiftKey)) return;
      event.preventDefault();
      go();
    },
  }, content);
}

export function group(label, options, id) {
  const heading = make("div", { class: "group", id }, label);
  return make("div", { role: "group", "aria-labelledby": id }, heading, options);
}

/** The pages of a search, each with its passages. */
export function pages(found, { addressOf, lead }) {
  return found.pages.map((page, nth) => {
    const rows = page.hits.map((hit) => {
      const href = addressOf(hit);
      const content = [
        make("b", { class: "title" }, marked(hit.heading || hit.title)),
        make("span", { class: "excerpt" }, marked(hit.snippet)),
      ];
      return option(content, { href, go: () => lead(hit, href) });
    });
    const { path } = page.hits[0];
    const above = path.slice(0, Math.max(0, path.indexOf(page.title)));
    return group([...above, page.title || page.key].join(" › "), rows, `page-${nth}`);
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
        : [make("span", { class: "doubt", title: words.doubtful }, own)]),
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
    return href ? make("a", { href, class: "citation" }, part) : part;
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
