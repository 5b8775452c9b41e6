// How the search came to be set up: tunings of a library, versions of the configuration.

import { get } from "../core/api.mjs";
import { go } from "../core/address.mjs";
import { html } from "../core/html.mjs";
import { Part, Table } from "../core/tables.mjs";
import { useFormats, useTexts } from "../core/texts.mjs";
import { useShown } from "./shown.mjs";
import { texts } from "./texts.mjs";

export function Settings({ params }) {
  const t = useTexts(texts);
  const load = (signal) => get("v1/libraries", {}, signal);
  return html`<h2>${t("tunings")}</h2>
    <${Part} load=${load}>${({ libraries }) => (libraries.length
      ? html`<${Tunings} params=${params} libraries=${libraries} />`
      : html`<p class="soft">${t("noLibrary")}</p>`)}<//>
    <h2>${t("configurations")}</h2><${Configurations} />`;
}

function Tunings({ params, libraries }) {
  const t = useTexts(texts);
  const format = useFormats();
  const { metric } = useShown();
  const names = libraries.map((each) => each.library);
  const library = names.includes(params.library) ? params.library : names[0];
  const set = (event) => go("operations", { ...params, library: event.target.value });
  const load = async (signal) =>
    (await get(`v1/libraries/${encodeURIComponent(library)}/tuning`, {}, signal)).tunings;
  const kept = (row) => row.verdicts.filter((each) => each.kept)
    .map((each) => `${each.setting}: ${JSON.stringify(each.value)}`);
  const columns = [
    [t("at"), (row) => format.moment(row.finished_at)],
    [t("version"), (row) => row.version || "–"],
    [t("questions"), (row) => t(`source_${row.source}`)],
    ["nDCG@10", ({ validation }) => (validation
      ? `${metric(validation.before)} → ${metric(validation.after)}` : "–"), true],
    [t("outcome"), (row) => html`${row.outcome}<small class="key">${row.reason}</small>`],
    [t("kept"), (row) => kept(row).map((each) => html`<small class="key">${each}</small>`)],
  ];
  return html`<div class="filters"><label>${t("library")} <select value=${library} onChange=${set}>
      ${names.map((each) => html`<option value=${each}>${each}</option>`)}</select></label></div>
    <${Part} load=${load} inputs=${[library]}>${(tunings) => (tunings.length
      ? html`<${Table} caption=${t("tunings")} columns=${columns} rows=${tunings} />`
      : html`<p class="soft">${t("noTuning")} <code>pgrag tune ${library}</code></p>`)}<//>`;
}

function Configurations() {
  const t = useTexts(texts);
  const format = useFormats();
  const load = (signal) => get("v1/configuration/versions", { top_k: 20 }, signal);
  const counts = (row) => Object.entries(row.configuration)
    .map(([section, entries]) => `${section} ${Object.keys(entries ?? {}).length}`).join(", ");
  const columns = [
    [t("version"), (row) => row.version_id], [t("at"), (row) => format.moment(row.created_at)],
    [t("origin"), (row) => t(row.origin === "package" ? "fromPackage" : "fromUser")],
    [t("note"), (row) => row.note],
    [t("entries"), (row) => html`<small class="key">${counts(row)}</small>`],
  ];
  return html`<${Part} load=${load}>${({ versions }) => html`
    <${Table} caption=${t("configurations")} columns=${columns} rows=${versions}
      keyOf=${(row) => row.version_id} />`}<//>`;
}
