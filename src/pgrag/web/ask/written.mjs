// The text of an answer: what each sentence is worth, and where its citations lead.

import { href } from "../core/address.mjs";
import { html, useMemo } from "../core/html.mjs";
import { useTexts } from "../core/texts.mjs";
import { Markdown, placesOf } from "./markdown.mjs";
import { place } from "./sources.mjs";
import { texts } from "./texts.mjs";

const LABELS = { doubtful: "doubtful", "not in the sources": "lacking" };
// A bracket that may become a citation is not shown before it is one.
const UNFINISHED = /\\?[[【][^\]】\n]{0,12}\\?$/;

/** The citations by their brackets, `{start, end, numbers}`, as places in a text. */
export function citationsOf({ text, citations }) {
  const at = placesOf(text);
  const found = new Map();
  for (const { number, start, end } of citations) {
    if (!found.has(start)) found.set(start, { start: at(start), end: at(end), numbers: [] });
    found.get(start).numbers.push(number);
  }
  return [...found.values()].sort((one, other) => one.start - other.start);
}

/** The checked sentences, as places in the text; none before the answer is complete. */
function sentencesOf({ text, whole }) {
  if (!whole) return [];
  const at = placesOf(text);
  return whole.sentences.map((each) => ({ ...each, start: at(each.start), end: at(each.end) }));
}

/** What cites a source: the sentence around it, or the line while nothing is checked yet. */
export function saidAt(answer, citation) {
  const around = sentencesOf(answer)
    .find((each) => each.start <= citation.start && citation.start < each.end);
  if (around) return around.text;
  const before = answer.text.slice(0, citation.start);
  return before.slice(Math.max(before.lastIndexOf("\n"), before.lastIndexOf(". ")) + 1);
}

export function Written({ answer, params, onChoose }) {
  const t = useTexts(texts);
  const { text, sources, phase } = answer;
  const isOpen = phase === "writing";
  const insets = useMemo(() => citationsOf(answer), [text, answer.citations]);
  const bySource = new Map(sources.map((source) => [source.number, source]));
  for (const citation of insets) {
    citation.show = () => html`<sup>${citation.numbers.map((number) => html`<${Cited}
      number=${number} source=${bySource.get(number)} params=${params}
      onChoose=${(event) => onChoose(number, saidAt(answer, citation), event.target)} />`)}</sup>`;
  }
  const marks = sentencesOf(answer).filter((each) => !each.is_supported);
  for (const sentence of marks) {
    const label = LABELS[sentence.verdict];
    sentence.show = (children, isLast) => html`<span class=${label}>${children}</span>
      ${isLast && html` <span class="badge ${label}-badge" title=${t(sentence.doubt)}>${t(label)}
        <span class="unseen">${t(sentence.doubt)}</span></span>`}`;
  }
  const shown = isOpen ? text.replace(UNFINISHED, "") : text;
  return html`<div class="answer" dir="auto" aria-busy=${String(isOpen)}>
    <${Markdown} text=${shown} marks=${marks} insets=${insets} isOpen=${isOpen} />
    ${marks.length > 0 && html`<p class="soft">${t("legend")}</p>`}</div>`;
}

function Cited({ number, source, params, onChoose }) {
  const t = useTexts(texts);
  if (!source) {
    return html`<span class="unknown" title=${t("unknownSource", { n: number })}>${number}
      <span class="unseen">${t("unknownSource", { n: number })}</span></span>`;
  }
  function choose(event) {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.button) return;
    event.preventDefault();
    onChoose(event);
  }
  return html`<a href=${href("search", place(source, params))} onClick=${choose}
    aria-label=${t("source", { n: number })} title=${source.title}>${number}</a>`;
}

/** The answer in Markdown with a list of the sources that it cites. */
export function copied({ text, sources, citations }) {
  const cited = new Set(citations.map((each) => each.number));
  const lines = sources.filter((source) => cited.has(source.number)).map((source) => {
    const library = `${source.library} ${source.version}`.trim();
    const title = [library, ...(source.path ?? [])].join(" › ");
    const address = source.url + (source.url && source.anchor ? `#${source.anchor}` : "");
    return `[${source.number}]: ${title}${address && ` <${address}>`}`;
  });
  return [text, ...(lines.length > 0 ? [lines.join("\n")] : [])].join("\n\n");
}
