// Searches that readers have rated, with what they said, and any other recorded search.

import { get } from "../core/api.mjs";
import { Link, go } from "../core/address.mjs";
import { html, useState } from "../core/html.mjs";
import { Part } from "../core/tables.mjs";
import { useFormats, useTexts } from "../core/texts.mjs";
import { useShown } from "./shown.mjs";
import { texts } from "./texts.mjs";

const ROWS = 50;

export function Feedback({ params, scope }) {
  const t = useTexts(texts);
  const all = params.all === "1";
  const given = { ...scope, rated: all ? null : true, top_k: ROWS };
  const load = (signal) => get("v1/searches", given, signal);
  const set = (event) => go("operations", { ...params, all: event.target.checked ? 1 : null });
  return html`<div class="filters"><label><input type="checkbox" checked=${all} onChange=${set} />
      ${" "}${t("alsoUnrated")}</label></div>
    <${Part} load=${load} inputs=${[scope.days, scope.library, all]}>${({ searches }) => (
      searches.length
      ? searches.map((each) => html`<${Search} key=${each.search_id} search=${each} />`)
      : html`<p class="soft">${t(all ? "popularNone" : "noFeedback")}</p>`)}<//>`;
}

function Search({ search }) {
  const t = useTexts(texts);
  const format = useFormats();
  const [open, setOpen] = useState(false);
  const rating = search.mean_rating;
  return html`<details class="change" onToggle=${(event) => setOpen(event.target.open)}>
    <summary>${rating !== null && html`
        <span class="badge ${rating < 3 ? "is-failed" : "is-succeeded"}">
        ${t("ratingOf", { rating: format.number(rating, rating % 1 ? 1 : 0) })}</span> `}
      ${search.query} <small class="key">${search.library_name ?? t("several")} ${search.version},
      ${" "}${format.ago(search.at)}</small></summary>
    ${open && html`<${Record} search=${search} />`}</details>`;
}

function Record({ search }) {
  const t = useTexts(texts);
  const format = useFormats();
  const { ms } = useShown();
  const load = (signal) => get(`v1/searches/${search.search_id}`, {}, signal);
  return html`<${Part} load=${load}>${(record) => html`
    <p>${t("hitCount", { n: record.hit_count })}, ${ms(record.duration_ms)}, ${record.client}
      ${record.caller && `, ${record.caller}`}. <${Link} view="search"
        params=${{ q: record.query, library: record.library, version: record.version }}>
        ${t("searchAgain")}<//></p>
    ${record.feedback.length > 0 && html`<ul class="lines">${record.feedback.map((each) => html`<li>
      ${t("ratingOf", { rating: each.rating })}
      ${each.document_id !== null && ` ${t("forHit", { n: rankOf(record, each.document_id) })}`}
      ${each.comment && html`: “${each.comment}”`}
      ${" "}<small>${format.moment(each.at)}</small></li>`)}</ul>`}
    <ol class="lines">${record.hits.slice(0, 10).map((hit) => html`<li>
      <${Link} view="search"
        params=${{ page: hit.page_id, hit: hit.document_id }}>${hit.page_key}<//>
      ${" "}${format.score(hit.score)}</li>`)}</ol>`}<//>`;
}

const rankOf = (record, id) =>
  record.hits.find((hit) => hit.document_id === id)?.rank ?? "?";
