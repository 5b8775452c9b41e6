// What is known of a version: inconsistencies, properties of its pages, texts of language models.

import { get } from "../core/api.mjs";
import { html } from "../core/html.mjs";
import { Part, Table } from "../core/tables.mjs";
import { useFormats, useTexts } from "../core/texts.mjs";
import { pathOf, wish } from "./names.mjs";
import { texts } from "./texts.mjs";

/** What `GET /v1/libraries/{library}/NAME` says of a version, drawn by the child. */
function Told({ of, library, label, children }) {
  const load = (signal) => get(`${pathOf(library)}/${of}`, { version: wish(label) }, signal);
  return html`<${Part} load=${load} inputs=${[library, label]}>${children}<//>`;
}

export function Health({ library, label }) {
  const t = useTexts(texts);
  const format = useFormats();
  const columns = [
    [t("problem"), (row) => row.problem],
    [t("count"), (row) => format.number(row.count), true],
    [t("examples"), (row) => row.examples.map((each) => html`<small class="key">${each}</small>`)],
    [t("remedy"), (row) => html`<code>${row.repairable ? `pgrag doctor ${library} --repair`
      : row.remedy ?? ""}</code>`],
  ];
  return html`<${Told} of="health" library=${library} label=${label}>${({ findings }) => html`
    <p class="soft">${t("healthAbout")}</p>
    <${Table} caption=${t("tab_health")} columns=${columns} rows=${findings}
      nothing=${t("healthy")} />`}<//>`;
}

export function Properties({ library, label }) {
  const t = useTexts(texts);
  const format = useFormats();
  const shown = (value) => (typeof value === "object" ? JSON.stringify(value) : String(value));
  const columns = [
    [t("property"), (row) => html`<code>${row.name}</code>`],
    [t("type"), (row) => html`${row.types.join(", ")}
      ${row.is_mixed && html` <span class="badge">${t("mixed")}</span>`}`],
    [t("pages"), (row) => format.number(row.pages), true],
    [t("share"), (row) => format.percent(row.share), true],
    [t("values"), (row) => format.number(row.distinct_values), true],
    [t("examples"), (row) => row.examples.map(shown).join("; ")],
  ];
  return html`<${Told} of="properties" library=${library} label=${label}>${({ properties }) => html`
    <${Table} caption=${t("tab_properties")} columns=${columns} rows=${properties}
      nothing=${t("noProperty")} />`}<//>`;
}

export function Written({ library, label }) {
  const t = useTexts(texts);
  const format = useFormats();
  const columns = [
    [t("kind"), (row) => t(`written_${row.kind}`)],
    [t("passages"), (row) => format.number(row.documents), true],
    [t("haveText"), (row) => format.number(row.enriched), true],
    [t("failedOn"), (row) => format.number(row.failed), true],
    [t("models"), (row) => row.models.join(", ")],
    [t("whenIndexed"), (row) => t(row.setting ? "yes" : "no")],
  ];
  const failures = [
    [t("page"), (row) => html`${row.key}<small class="key">${row.path.join(" › ")}</small>`],
    [t("reason"), (row) => row.reason],
    [t("models"), (row) => row.model],
    [t("at"), (row) => format.moment(row.failed_at)],
  ];
  return html`<${Told} of="enrichment" library=${library} label=${label}>${(told) => html`
    <p class="soft">${t("writtenAbout")} <code>pgrag enrich ${library}</code></p>
    <${Table} caption=${t("tab_written")} columns=${columns} rows=${told.kinds} />
    ${told.failures.length > 0 && html`<h2>${t("failures")}</h2>
      <${Table} caption=${t("failures")} columns=${failures} rows=${told.failures} />`}`}<//>`;
}
