// The passages that an answer rests on, each with the place that a sentence cites.

import { Link } from "../core/address.mjs";
import { html, useEffect, useRef, useState } from "../core/html.mjs";
import { Crumbs, Inline } from "../core/parts.mjs";
import { useTexts } from "../core/texts.mjs";
import { Markdown } from "./markdown.mjs";
import { texts } from "./texts.mjs";

const WORD = /[\p{L}\p{N}][\p{L}\p{N}_-]{2,}/gu;
const END = /[.!?]\s+|\n\s*\n|\n(?=\s*(?:[-*+|#>]|\d+\.)\s)/g;

const wordsOf = (text) => new Set(text.toLowerCase().match(WORD));

/** The sentence of a passage that shares most words with what is said; null below two words. */
function nearest(passage, said) {
  const words = wordsOf(said);
  let best = null;
  let most = 1;
  let start = 0;
  for (const end of [...passage.matchAll(END)].map((each) => each.index + each[0].length)
    .concat(passage.length)) {
    const shared = [...wordsOf(passage.slice(start, end))].filter((word) => words.has(word)).length;
    if (shared > most) [best, most] = [{ start, end }, shared];
    start = end;
  }
  return best;
}

/** Address of a passage in the reader. */
export const place = (source, params) => ({
  q: params.q, library: params.library || source.library, version: params.version,
  page: source.page_id, document: source.document_id,
});

/**
 * `chosen` is `{number, said}`: the source that a citation leads to, and the sentence that cites
 * it. Of the other sources that are cited `saidBy` has a sentence each, by number.
 */
export function Sources({ sources, cited, chosen, saidBy, params, onBack }) {
  const t = useTexts(texts);
  const shown = cited.size > 0 ? sources.filter((each) => cited.has(each.number)) : sources;
  const others = sources.filter((each) => !shown.includes(each));
  const card = (source) => {
    const isChosen = source.number === chosen?.number;
    return html`<${Card} key=${source.number} source=${source} params=${params} onBack=${onBack}
      chosen=${isChosen ? chosen : null}
      said=${isChosen ? chosen.said : saidBy[source.number]} />`;
  };
  return html`<aside class="sources" aria-label=${t("sources")}>
    <h2 class="unseen">${t("sources")}</h2>
    ${shown.map(card)}
    ${others.length > 0 && html`<details
      open=${others.some((one) => one.number === chosen?.number)}>
      <summary>${t("others", { n: others.length })}</summary>${others.map(card)}</details>`}
  </aside>`;
}

const marked = (text) => html`<mark>${text}</mark>`;

function Card({ source, said, chosen, params, onBack }) {
  const t = useTexts(texts);
  const card = useRef();
  const [isWhole, setWhole] = useState(false);
  useEffect(() => {
    if (!chosen) return;
    setWhole(true);
    card.current.focus({ preventScroll: true });
    const found = card.current.querySelector("mark") ?? card.current;
    found.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const back = (event) => event.key === "Escape" && chosen && onBack();
  const { content } = source;
  const found = said ? nearest(content, said) : null;
  // What is folded begins with the paragraph that the sentence rests on.
  const from = isWhole || !found ? 0 : content.lastIndexOf("\n\n", found.start) + 1;
  const marks = found
    ? [{ start: found.start - from, end: found.end - from, show: marked }]
    : [];
  const path = source.path ?? [];
  const where = `${source.number} · ${source.library} ${source.version}`;
  return html`<article class=${`source${chosen ? " on" : ""}`} ref=${card} tabindex="-1"
    aria-label=${t("source", { n: source.number })} onKeyDown=${back}>
    <${Crumbs} path=${[where, ...path.slice(0, -1)]} />
    <h3><${Link} view="search" params=${place(source, params)}>
      <${Inline} text=${source.heading || path.at(-1) || source.title} /><//></h3>
    <div class=${isWhole ? "text" : "text folded"} dir="auto">
      <${Markdown} text=${content.slice(from)} marks=${marks} /></div>
    <div class="row">
      <button type="button" class="plain" aria-expanded=${String(isWhole)}
        onClick=${() => setWhole(!isWhole)}>${isWhole ? t("less") : t("whole")}</button>
      <${Link} view="search" params=${place(source, params)}>${t("openPage")}<//>
    </div>
  </article>`;
}
