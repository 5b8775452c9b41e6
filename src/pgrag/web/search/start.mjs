// What is there to search, before there are words.

import { Link } from "../core/address.mjs";
import { get, service, useLoaded } from "../core/api.mjs";
import { html } from "../core/html.mjs";
import { Copy } from "../core/parts.mjs";
import { useStore } from "../core/store.mjs";
import { useTexts } from "../core/texts.mjs";
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
  if (!libraries.length) return html`<${Empty} />`;
  const shown = params.library
    ? libraries.filter((each) => each.library === params.library) : libraries.slice(0, SHOWN);
  return html`<div class="start">
    <h2>${t("whatThereIs")}</h2>
    <div class="cards">${shown.map((each) => html`<${Link} key=${each.library} class="card"
        view="search" params=${{ library: each.library, mode: params.mode }}>
        <strong>${each.library}</strong><small>${described(each, t)}</small><//>`)}</div>
    ${shown.length < libraries.length && !params.library && html`<p><${Link} view="libraries">${
      t("allOf", { n: libraries.length })}<//></p>`}
    <${Popular} library=${params.library} />
    <h2>${t("examples")}</h2>
    <dl class="examples">${EXAMPLES.map(([words, name]) => html`<div>
      <dt><code>${words}</code></dt><dd>${t(name)}</dd></div>`)}</dl>
  </div>`;
}

const described = (library, t) =>
  [library.newest && t("newestIs", { version: library.newest }),
    t("versions", { n: library.versions }), t("pages", { n: library.pages })]
    .filter(Boolean).join(" · ");

/** What others search for, where the caller may know it. */
function Popular({ library }) {
  const t = useTexts(texts);
  const may = useStore(service)?.may.observe;
  const { value } = useLoaded(
    (signal) => may && get("v1/metrics/popular-queries", { library, top_k: POPULAR }, signal),
    [may, library],
  );
  const queries = (value?.queries ?? []).filter((each) => each.empty_share < 1);
  if (!queries.length) return null;
  return html`<h2>${t("popular")}</h2>
    <p class="row">${queries.map(({ query: q }) => html`
      <${Link} key=${q} class="chip" view="search" params=${{ library, q }}>${q}<//>`)}</p>`;
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
