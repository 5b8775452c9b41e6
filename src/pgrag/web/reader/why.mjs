// Why a hit is where it is: the parts of its score, its terms, and what just missed the list.

import { html, useState } from "../core/html.mjs";
import { get, useLoaded } from "../core/api.mjs";
import { Inline } from "../core/parts.mjs";
import { useFormats, useTexts } from "../core/texts.mjs";
import { Inside, Loading, Panel } from "./parts.mjs";
import { texts } from "./texts.mjs";

/** Parts with a colour and a name of their own, in the order of the bar; others follow. */
const KINDS = ["words", "meaning", "page", "links"];
/** Hits below the list that are shown. */
const MISSED = 5;
/** What does not change which hits there are, nor their order. */
const SHOWN = { explain: null, snippets: null, history: null };

/** The hit with its explanation: the list may have been searched for without. */
async function explained(hit, request, signal) {
  if (hit.explanation) return hit;
  const found = await get("v1/search", { ...request, ...SHOWN, explain: true }, signal);
  return hitsOf(found).find((each) => each.document_id === hit.document_id) ?? hit;
}

const hitsOf = (found) =>
  found.pages?.length ? found.pages.flatMap((page) => page.hits) : found.hits;

export function Why({ place, request, params }) {
  const t = useTexts(texts);
  const [tries, setTries] = useState(0);
  const { hit } = place;
  const asked = JSON.stringify(request);
  const state = useLoaded((signal) => explained(hit, request, signal), [hit, asked, tries]);
  return html`<${Panel} label=${t("why")}>
    <h2 class="reader-title"><${Inline} text=${hit.heading || hit.title} /></h2>
    <${Loading} state=${state} params=${params} onRetry=${() => setTries(tries + 1)}>
      ${(found) => found.explanation
        ? html`<${Explanation} hit=${found} />`
        : html`<p class="soft">${t("noExplanation")}</p>`}
    <//>
    <${Missed} hit=${hit} request=${request} params=${params} />
  <//>`;
}

function Explanation({ hit }) {
  const t = useTexts(texts);
  const { explanation } = hit;
  return html`
    <${Parts} parts=${explanation.parts} score=${hit.score} />
    <${Terms} lexemes=${explanation.keyword?.lexemes ?? []} share=${explanation.parts?.words} />
    ${explanation.keyword && html`<h3>${t("foundBy")}</h3><${Retrievers} hit=${hit} />`}
    ${explanation.reasons.length > 0 && html`<h3>${t("reasons")}</h3><ul lang="en">
      ${explanation.reasons.map((each) => html`<li key=${each}>${each}</li>`)}</ul>`}`;
}

/** One bar of the parts that raise the score; those that lower it are in the list below it. */
function Parts({ parts, score }) {
  const t = useTexts(texts);
  const f = useFormats();
  const all = Object.entries(parts ?? {}).filter(([, value]) => value);
  all.sort(([one], [other]) => order(one) - order(other));
  const raised = all.filter(([, value]) => value > 0);
  const whole = raised.reduce((sum, [, value]) => sum + value, 0) || 1;
  const told = (name, length = "part") =>
    texts.en[`${length}_${name}`] ? t(`${length}_${name}`) : name.replaceAll("_", " ");
  return html`
    <div class="big" aria-hidden="true">${raised.map(([name, value]) => html`<i key=${name}
      class=${KINDS.includes(name) ? name : "other"} style=${{ width: `${(100 * value) / whole}%` }}>
      ${value / whole > 0.12 ? `${told(name, "short")} ${f.score(value)}` : ""}</i>`)}</div>
    <dl class="key">${all.map(([name, value]) => html`<div key=${name}>
        <dt class=${KINDS.includes(name) ? name : "other"}>${told(name)}</dt>
        <dd>${f.score(value)}</dd></div>`)}
      <div class="sum"><dt>${t("sum")}</dt><dd><b>${f.score(score)}</b></dd></div>
    </dl>`;
}

const order = (name) => (KINDS.indexOf(name) + KINDS.length + 1) % (KINDS.length + 1);

/** The terms of the query in the passage. Their shares add up to the part of the words. */
function Terms({ lexemes, share }) {
  const t = useTexts(texts);
  const f = useFormats();
  if (!lexemes.length || share === 0) return html`<p class="soft">${t("noTerms")}</p>`;
  const whole = lexemes.reduce((sum, each) => sum + each.adds, 0) || 1;
  const factor = share === undefined ? 1 : share / whole;
  const columns = ["weight", "impact", "inDocuments", "share"];
  return html`<div class="wide"><table class="list"><caption class="unseen">${t("terms")}</caption>
    <thead><tr><th scope="col">${t("term")}</th>
      ${columns.map((name) => html`<th scope="col" class="n" key=${name}>${t(name)}</th>`)}</tr></thead>
    <tbody>${lexemes.map((each) => html`<tr key=${each.lexeme}><th scope="row">${each.lexeme}</th>
      <td class="n">${f.score(each.weight)}</td><td class="n">${f.number(each.impact, 2)}</td>
      <td class="n">${f.number(each.documents)}</td>
      <td class="n">${each.adds ? f.score(each.adds * factor) : "–"}</td></tr>`)}</tbody>
  </table></div>`;
}

/** Which retriever found the hit, and at which rank. */
function Retrievers({ hit }) {
  const t = useTexts(texts);
  const f = useFormats();
  const { keyword, semantic, confidence, graph } = hit.explanation;
  const rows = [
    [t("byWords"), keyword?.rank, keyword?.score, ""],
    [t("byMeaning"), semantic?.rank, semantic?.score, semantic?.model ?? ""],
  ];
  return html`<ul>
    ${rows.map(([name, rank, score, model]) => html`<li key=${name}>${name}: ${rank
      ? t("atRank", { n: rank, score: f.score(score) })
      : score > 0 ? t("belowRanks", { score: f.score(score) }) : t("notFoundBy")}
      ${model && html` <span class="soft">(${model})</span>`}</li>`)}
    ${graph?.path && html`<li>${t("byLinks")}: ${graph.path.join(" → ")}</li>`}
    ${confidence?.value > 0 && html`<li>${t("confidence", { share: f.percent(confidence.value) })}</li>`}
  </ul>`;
}

/**
 * The band below the cut. One longer search instead of one that continues: lists fused by ranks,
 * reranked or grouped have no other way to go on.
 */
function Missed({ hit, request, params }) {
  const t = useTexts(texts);
  const f = useFormats();
  const [is_open, setOpen] = useState(false);
  const asked = JSON.stringify(request);
  const state = useLoaded(
    (signal) => (is_open ? below(request, signal) : null), [asked, is_open],
  );
  return html`<details class="missed" open=${is_open} onToggle=${(event) => setOpen(event.currentTarget.open)}>
    <summary>${t("missed")}</summary>
    ${is_open && html`<${Loading} state=${state} params=${params}>${({ last, next }) => next.length
      ? html`<ol class="plain-list">${next.map((each) => html`<li key=${each.document_id}>
          <${Inside} params=${params} page=${each.page_id} document=${each.document_id}>
            ${each.title}${each.heading && each.heading !== each.title ? " › " : ""}
            ${each.heading !== each.title && html`<${Inline} text=${each.heading} />`}<//>
          <span class="soft">${f.score(each.score)}, ${t("lacks", { score: lack(last, each) })}</span>
        </li>`)}</ol>`
      : html`<p class="soft">${t("noneMissed")}</p>`}<//>`}
  </details>`;
}

/** What a hit lacks to the last of the list; more digits than scores have, for it may be little. */
const lack = (last, each) => (last - each.score).toFixed(3).replace(/^0\./, ".");

async function below(request, signal) {
  const shown = Number(request.top_k) || 10;
  const top_k = Math.min(shown + MISSED, 1000);
  const found = await get("v1/search", { ...request, ...SHOWN, top_k }, signal);
  const entries = found.pages?.length ? found.pages.map((page) => page.hits[0]) : found.hits;
  return { last: entries[shown - 1]?.score ?? 0, next: entries.slice(shown) };
}
