// The blocks and runs of a text in Markdown, each with its place in the text. A small part of
// Markdown: paragraphs, headings, lists, tables, quotes, code, emphasis, links. All else is text.

const FENCE = /^\s*(`{3,}|~{3,})/;
const HEADING = /^ {0,3}(#{1,6})\s+/;
const ITEM = /^(\s*)(?:[-*+•]|(\d{1,3})[.)])\s+/;
const ROW = /^\s*\|/;
const RULE = /^\s*\|[\s|:]*-[\s|:-]*$/;
const QUOTE = /^\s*>\s?(?:\[!\w+\]\s*)?/;
/** Emphasis within emphasis to this depth; deeper marks are text. */
const DEEPEST = 6;
/** Emphasis of more characters is text: looking for its end must not take long. */
const LONGEST = 1000;

/**
 * Blocks: `{kind, lines}` with kind p, h, quote, item, row or code. A line is `[start, end]`; an
 * item has `indent` and `number`, a row `cells` (each a line) and `isHead`, a heading its `level`.
 */
export function blocksOf(text) {
  const blocks = [];
  let open = null;
  let fence = "";
  let start = 0;
  const add = (block) => blocks.push((open = block));
  for (const line of text.split("\n")) {
    const end = start + line.length;
    const marker = FENCE.exec(line)?.[1];
    if (fence) {
      const isEnd = marker?.startsWith(fence) && !line.trim().replaceAll(fence[0], "");
      if (isEnd) [fence, open] = ["", null];
      else open.lines.push([start, end]);
    } else if (marker) {
      fence = marker;
      add({ kind: "code", lines: [] });
    } else if (!line.trim()) {
      open = null;
    } else {
      const quote = QUOTE.exec(line)?.[0].length ?? 0;
      const block = continues(open, line, quote) ? open : begun(line, start, end, open);
      if (block !== open) add(block);
      else open.lines.push([start + (quote || /^\s*/.exec(line)[0].length), end]);
    }
    start = end + 1;
  }
  return blocks.filter((block) => block.kind !== "row" || !block.isRule);
}

const continues = (open, line, quote) =>
  quote
    ? open?.kind === "quote"
    : ["p", "item", "quote"].includes(open?.kind) &&
      ![HEADING, ITEM, ROW].some((start) => start.test(line));

function begun(line, start, end, open) {
  const heading = HEADING.exec(line);
  if (heading) {
    return { kind: "h", level: heading[1].length, lines: [[start + heading[0].length, end]] };
  }
  const item = ITEM.exec(line);
  if (item) {
    const lines = [[start + item[0].length, end]];
    return { kind: "item", indent: item[1].length, number: item[2] ?? null, lines };
  }
  if (ROW.test(line)) {
    const isRule = RULE.test(line);
    if (isRule && open?.kind === "row") open.isHead = true;
    return { kind: "row", cells: cellsOf(line, start), isRule, isHead: false };
  }
  const quote = QUOTE.exec(line)?.[0].length ?? 0;
  return { kind: quote ? "quote" : "p", lines: [[start + quote, end]] };
}

function cellsOf(line, start) {
  const cells = [];
  const first = line.indexOf("|") + 1;
  let from = first;
  for (let at = first; at <= line.length; at++) {
    const isEnd = at === line.length;
    if (!isEnd && (line[at] !== "|" || line[at - 1] === "\\")) continue;
    if (!isEnd || line.slice(from).trim()) cells.push([start + from, start + at]);
    from = at + 1;
  }
  return cells;
}

/** The words of lines as one text, `at` the place of each of its units in the whole text. */
function joined(text, lines) {
  let words = "";
  const at = [];
  for (const [start, end] of lines) {
    if (words) {
      words += " ";
      at.push(start);
    }
    words += text.slice(start, end);
    for (let place = start; place < end; place++) at.push(place);
  }
  return { words, at };
}

/**
 * The runs of lines: `{text, at, code, strong, em, href}`, without the marks that make them so.
 * `isOpen`: the text goes on later, so that what has no end yet lasts to the end.
 */
export function runsOf(text, lines, isOpen = false) {
  const { words, at } = joined(text, lines);
  const runs = [];
  const say = (from, to, style) => {
    if (to > from) runs.push({ ...style, text: words.slice(from, to), at: at.slice(from, to) });
  };
  read(words, 0, words.length, {}, isOpen, say, 0);
  return runs;
}

// From here, `say(from, to, style)` takes each run of words.

function read(words, from, to, style, isOpen, say, depth) {
  let said = from;
  let at = from;
  while (at < to) {
    const found = markAt(words, at, to, isOpen, depth);
    if (!found) {
      at += 1;
      continue;
    }
    say(said, at, style);
    const inner = { ...style, ...found.style };
    if (found.isPlain) say(found.from, found.to, inner);
    else read(words, found.from, found.to, inner, isOpen, say, depth + 1);
    at = said = found.next;
  }
  say(said, to, style);
}

// `[words](address "title")`: brackets in the words and in the address come in pairs.
const WORDS = /!?\[((?:[^\][\\]|\\.|\[[^\][]*\]){0,400})\]/;
const ADDRESS = /\(\s*<?([^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)?)>?(?:\s+["'][^"']*["'])?\s*\)/;
const LINK = new RegExp(WORDS.source + ADDRESS.source, "y");
const BARE = /<?(https?:\/\/[^\s<>"'`]*[^\s<>"'`.,:;!?)\]*_])>?/iy;

function matched(pattern, words, at) {
  pattern.lastIndex = at;
  return pattern.exec(words);
}

/** What a mark at this place encloses: `{from, to, next, style, isPlain}`; null for plain words. */
function markAt(words, at, to, isOpen, depth) {
  const sign = words[at];
  if (sign === "\\" && /[!-/:-@[-`{-~]/.test(words[at + 1] ?? "")) {
    return { from: at + 1, to: at + 2, next: at + 2, isPlain: true };
  }
  if (sign === "`") return codeAt(words, at, to, isOpen);
  if (sign === "*" || sign === "_") {
    return depth < DEEPEST ? emphasisAt(words, at, to, isOpen) : null;
  }
  if (sign === "[" || sign === "!") {
    const link = matched(LINK, words, at);
    if (!link || at + link[0].length > to) return null;
    const from = at + link[0].indexOf("[") + 1;
    // Only what leads to a web page is a link; of all other addresses the words remain.
    const style = /^https?:\/\//i.test(link[2]) && sign === "[" ? { href: link[2] } : {};
    return {
      from, to: from + link[1].length, next: at + link[0].length, style, isPlain: depth >= DEEPEST,
    };
  }
  if (sign !== "<" && sign !== "h" && sign !== "H") return null;
  const bare = /\w/.test(words[at - 1] ?? "") ? null : matched(BARE, words, at);
  if (!bare || at + bare[0].length > to) return null;
  const from = at + (sign === "<" ? 1 : 0);
  const end = from + bare[1].length;
  const next = sign === "<" ? at + bare[0].length : end;
  return { from, to: end, next, style: { href: bare[1] }, isPlain: true };
}

function codeAt(words, at, to, isOpen) {
  const run = /^`+/.exec(words.slice(at, to))[0];
  const from = at + run.length;
  let end = words.indexOf(run, from);
  while (end >= 0 && words[end + run.length] === "`") {
    end = words.indexOf(run, end + /^`+/.exec(words.slice(end))[0].length);
  }
  const isWhole = end >= 0 && end + run.length <= to;
  if (!isWhole && !isOpen) return { from: at, to: from, next: from, isPlain: true };
  if (!isWhole) return { from, to, next: to, style: { code: true }, isPlain: true };
  return { from, to: end, next: end + run.length, style: { code: true }, isPlain: true };
}

function emphasisAt(words, at, to, isOpen) {
  const sign = words[at];
  const mark = words[at + 1] === sign ? sign + sign : sign;
  const from = at + mark.length;
  const isInWord = sign === "_" && /\w/.test(words[at - 1] ?? "");
  if (isInWord || from >= to || /\s/.test(words[from])) return null;
  const style = mark.length === 2 ? { strong: true } : { em: true };
  for (let end = words.indexOf(mark, from + 1); end >= 0 && end < Math.min(to, from + LONGEST); ) {
    const after = words[end + mark.length] ?? "";
    const isPart = mark.length === 1 && (after === sign || words[end - 1] === sign);
    const isWithin = sign === "_" && /\w/.test(after);
    if (!isPart && !isWithin && !/\s/.test(words[end - 1])) {
      return { from, to: end, next: end + mark.length, style };
    }
    end = words.indexOf(mark, end + (isPart ? 2 : 1));
  }
  return isOpen && mark.length === 2 ? { from, to, next: to, style } : null;
}
