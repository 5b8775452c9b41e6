// What is there to search, before there are words; and the ways on where nothing was found.

import { Link } from "../core/address.mjs";
import { get, service, useLoaded } from "../core/api.mjs";
import { html } from "../core/html.mjs";
import { Copy } from "../core/parts.mjs";
import { useStore } from "../core/store.mjs";
import { useFormats, useTexts } from "../core/texts.mjs";
import { isNarrowed, widened } from "./arguments.mjs";
import { texts } from "./texts.mjs";

/** So many libraries are shown; the others are in the menu and in their own view. */
const SHOWN = 12;
const POPULAR = 8;
const COMMAND = "pgrag index NAME@VERSION FOLDER_OR_ADDRESS";
const EXAMPLES = [['"retry policy"', "examplePhrase"], ["backup +restore", "exampleMust"],
  ["install -windows", "exampleNot"], ["restore type:guide", "exampleFilter"],
  ["created:>=2025-01-01 backup", "exampleDate"]];

export function Start({ params, libraries }) {
  const t = useTexts(texts);
  const { number } = useFormats();
  if (!libraries.length) return html`<${Empty} />`;
  const shown = params.library
    ? libraries.filter((each) => each.library === params.library) : libraries.slice(0, SHOWN);
  return html`<div class="start">
    <h2>${t("whatThereIs")}</h2>
    <div class="cards">${shown.map((each) => html`<${Link} key=${each.library} class="card" view="search"
        params=${{ library: each.library, mode: params.mode }}>
        <strong>${each.library}</strong>
        <small>${[each.newest && t("newestIs", { version: each.newest }),
          t("versions", { n: each.versions }), t("pages", { n: each.pages })].filter(Boolean).join(" · ")}
        </small><//>`)}</div>
    ${shown.length < libraries.length && !params.library && html`<p><${Link} view="libraries">${
      t("allOf", { n: libraries.length })}<//></p>`}
    <${Popular} library=${params.library} />
    <h2>${t("examples")}</h2>
    <dl class="examples">${EXAMPLES.map(([words, name]) => html`<div>
      <dt><code>${words}</code></dt><dd>${t(name)}</dd></div>`)}</dl>
    <p class="soft">${number(libraries.reduce((sum, each) => sum + each.documents, 0))} ${t("passagesInAll")}</p>
  </div>`;
}

/** What others search for, where the caller may know it. */
function Popular({ library }) {
  const t = useTexts(texts);
  const may = useStore(service)?.may.observe;
  const { value } = useLoaded(async (signal) =>
    may ? get("v1/metrics/popular-queries", { library, top_k: POPULAR }, signal) : null, [may, library]);
  const queries = (value?.queries ?? []).filter((each) => each.empty_share < 1);
  if (!queries.length) return null;
  return html`<h2>${t("popular")}</h2><p class="row">${queries.map(({ query }) => html`
    <${Link} key=${query} class="chip" view="search" params=${{ library, q: query }}>${query}<//>`)}</p>`;
}

function Empty() {
  const t = useTexts(texts);
  const known = useStore(service);
  if (known?.caller && !known.caller.libraries.includes("*")) {
    return html`<div class="start"><h2>${t("noneForKey")}</h2><p>${t("noneForKeyHint")}</p></div>`;
  }
  return html`<div class="start"><h2>${t("nothingIndexed")}</h2><p>${t("indexHint")}</p>
    <p class="row"><code>${COMMAND}</code> <${Copy} text=${COMMAND} /></p>
    ${known?.may.index && html`<p><${Link} view="libraries">${t("addSource")}<//></p>`}</div>`;
}

/** Nothing was found, or nothing that seems to answer: what that may come from, and what to do. */
export function WaysOut({ params, answer, library }) {
  const t = useTexts(texts);
  const nothing = !answer.groups.length;
  const { value } = useLoaded((signal) => {
    const { q, version } = params;
    return q?.trim() ? get("v1/suggestions", { q, library, version }, signal) : null;
  }, [params.q, library, params.version]);
  const suggested = value?.suggestions ?? [];
  return html`<div class="none">
    <strong>${t(nothing ? "nothingFound" : "noGoodMatch")}</strong>
    ${suggested.length > 0 && html`<p>${t("didYouMean")} ${suggested.map((each) => html`
      <${Link} key=${each.suggestion} class="chip" view="search"
        params=${{ ...params, q: each.suggestion, prefix: "" }}>${each.suggestion}<//> `)}</p>`}
    <ul>
      ${isNarrowed(params) && html`<li><${Link} view="search" params=${widened(params)}>${t("widen")}<//></li>`}
      ${params.version && params.version !== "*" && html`<li><${Link} view="search"
        params=${{ ...widened(params), version: "*" }}>${t("tryVersions")}<//></li>`}
      ${params.library && html`<li><${Link} view="search"
        params=${{ ...widened(params), library: "", version: "" }}>${t("tryLibraries")}<//></li>`}
      ${params.mode === "keyword" && html`<li><${Link} view="search"
        params=${{ ...params, mode: "" }}>${t("tryMeaning")}<//></li>`}
      <li>${t("tryWords")}</li>
    </ul>
    ${!nothing && html`<p class="soft">${t("nearest")}</p>`}
  </div>`;
}
