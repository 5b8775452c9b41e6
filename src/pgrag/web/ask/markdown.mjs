// A text in Markdown as elements, never as HTML: what a language model or a page wrote stays text.

import { html } from "../core/html.mjs";
import { blocksOf, runsOf } from "./blocks.mjs";

/**
 * Python counts characters, JavaScript counts halves of those beyond the first plane: a function
 * that gives the place in a text for a count of characters.
 */
export function placesOf(text) {
  if (!/[\ud800-\udfff]/.test(text)) return (count) => count;
  const places = [];
  let at = 0;
  for (const character of text) {
    places.push(at);
    at += character.length;
  }
  return (count) => places[count] ?? at;
}

/**
 * `marks`: ranges `{start, end, show(children, isLast)}` that are drawn around their part of the
 * text, `insets`: `{start, end, show()}` that stand in its place; neither overlaps another of its
 * kind. A mark over several parts of a text is drawn around each, `isLast` around the last.
 */
export function Markdown({ text, marks = [], insets = [], isOpen = false }) {
  const blocks = blocksOf(text);
  const shown = new Map();
  const last = new Map();
  blocks.forEach((block, number) => {
    if (block.kind === "code") return;
    const isEnd = isOpen && number === blocks.length - 1;
    for (const lines of block.cells?.map((cell) => [cell]) ?? [block.lines]) {
      const pieces = piecesOf(runsOf(text, lines, isEnd), marks, insets);
      shown.set(lines[0], pieces);
      for (const piece of pieces) if (piece.mark) last.set(piece.mark, piece);
    }
  });
  const inline = (line) => drawn(shown.get(line), last);
  return elements(blocks, text, inline);
}

/** Runs, cut where a mark or an inset begins or ends. */
function piecesOf(runs, marks, insets) {
  const pieces = [];
  const within = (ranges, place) =>
    ranges.find((range) => range.start <= place && place < range.end) ?? null;
  for (const run of runs) {
    let piece = null;
    for (let unit = 0; unit < run.text.length; unit++) {
      const mark = within(marks, run.at[unit]);
      const inset = within(insets, run.at[unit]);
      const before = piece ?? pieces.at(-1);
      if (inset && before?.inset === inset) continue;
      if (!piece || piece.mark !== mark || piece.inset !== inset) {
        // A number above the line stands close to its word.
        if (inset && before && !before.code) before.text = before.text.trimEnd();
        piece = { ...run, text: "", mark, inset };
        pieces.push(piece);
      }
      piece.text += run.text[unit];
    }
  }
  return pieces;
}

function drawn(pieces, last) {
  const parts = [];
  for (let from = 0, to; from < pieces.length; from = to) {
    const { mark } = pieces[from];
    for (to = from + 1; to < pieces.length && pieces[to].mark === mark; ) to += 1;
    const group = pieces.slice(from, to);
    const children = group.map(styled);
    parts.push(mark ? mark.show(children, group.includes(last.get(mark))) : children);
  }
  return parts;
}

function styled({ text, inset, code, strong, em, href }) {
  if (inset) return inset.show();
  let shown = code ? html`<code>${text}</code>` : text;
  if (em) shown = html`<em>${shown}</em>`;
  if (strong) shown = html`<strong>${shown}</strong>`;
  return href ? html`<a href=${href} rel="noopener noreferrer">${shown}</a>` : shown;
}

function elements(blocks, text, inline) {
  const parts = [];
  for (let at = 0, next; at < blocks.length; at = next) {
    const { kind, lines } = blocks[at];
    next = at + 1;
    while (next < blocks.length && blocks[next].kind === kind && ["item", "row"].includes(kind)) {
      next += 1;
    }
    const group = blocks.slice(at, next);
    if (kind === "code") {
      const code = lines.map(([start, end]) => text.slice(start, end)).join("\n");
      parts.push(html`<pre tabindex="0"><code>${code}</code></pre>`);
    } else if (kind === "item") parts.push(list(group, inline));
    else if (kind === "row") parts.push(table(group, inline));
    else if (kind === "quote") parts.push(html`<blockquote>${inline(lines[0])}</blockquote>`);
    // Headings of a text are no headings of the page around it.
    else if (kind === "h") parts.push(html`<p class="heading">${inline(lines[0])}</p>`);
    else parts.push(html`<p>${inline(lines[0])}</p>`);
  }
  return parts;
}

function list(items, inline) {
  const entries = [];
  const { indent, number } = items[0];
  for (let at = 0, next; at < items.length; at = next) {
    next = at + 1;
    while (next < items.length && items[next].indent > indent + 1) next += 1;
    const below = items.slice(at + 1, next);
    const words = inline(items[at].lines[0]);
    entries.push(html`<li>${words}${below.length > 0 && list(below, inline)}</li>`);
  }
  return number === null
    ? html`<ul>${entries}</ul>`
    : html`<ol start=${Number(number)}>${entries}</ol>`;
}

function table(rows, inline) {
  const row = ({ cells, isHead }) => html`<tr>${cells.map((cell) =>
    isHead ? html`<th>${inline(cell)}</th>` : html`<td>${inline(cell)}</td>`)}</tr>`;
  return html`<div class="wide" tabindex="0"><table class="list">${rows.map(row)}</table></div>`;
}
