// The ways on where nothing was found.

import { Link } from "../core/address.mjs";
import { get, useLoaded } from "../core/api.mjs";
import { html } from "../core/html.mjs";
import { useTexts } from "../core/texts.mjs";
import { isNarrowed, widened } from "./arguments.mjs";
import { texts } from "./texts.mjs";

/** Nothing was found, or nothing that seems to answer: what that may come from, and what to do. */
export function WaysOut({ params, answer, library }) {
  const t = useTexts(texts);
  const nothing = !answer.groups.length;
  const { q, version } = params;
  const { value } = useLoaded(
    (signal) => (q?.trim() ? get("v1/suggestions", { q, library, version }, signal) : null),
    [q, library, version],
  );
  const suggested = value?.suggestions ?? [];
  const wide = widened(params);
  const same = { ...params, prefix: "", hit: "", page: "", document: "", count: "" };
  const ways = [
    isNarrowed(params) && ["widen", wide],
    version && version !== "*" && ["tryVersions", { ...wide, version: "*" }],
    params.library && ["tryLibraries", { ...wide, library: "", version: "" }],
    params.mode === "keyword" && ["tryMeaning", { ...wide, mode: "" }],
  ].filter(Boolean);
  return html`<div class="none">
    <strong>${t(nothing ? "nothingFound" : "noGoodMatch")}</strong>
    ${suggested.length > 0 && html`<p>${t("didYouMean")} ${suggested.map((each) => html`
      <${Link} key=${each.suggestion} class="chip" view="search"
        params=${{ ...same, q: each.suggestion }}>${each.suggestion}<//> `)}</p>`}
    <ul>
      ${ways.map(([name, next]) => html`<li key=${name}>
        <${Link} view="search" params=${next}>${t(name)}<//></li>`)}
      <li>${t("tryWords")}</li>
    </ul>
    ${!nothing && html`<p class="soft">${t("nearest")}</p>`}
  </div>`;
}
