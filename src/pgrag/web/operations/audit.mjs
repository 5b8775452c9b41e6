// The audit: what callers with keys did, and what was refused.

import { get } from "../core/api.mjs";
import { go } from "../core/address.mjs";
import { html } from "../core/html.mjs";
import { Part, Table } from "../core/tables.mjs";
import { useFormats, useTexts } from "../core/texts.mjs";
import { texts } from "./texts.mjs";

const ROWS = [100, 300, 1000];

export function Audit({ params }) {
  const t = useTexts(texts);
  const { caller = "", refused = "", since = "", until = "" } = params;
  const count = ROWS.includes(Number(params.rows)) ? Number(params.rows) : ROWS[0];
  const set = (name) => (event) => go("operations", { ...params, [name]: event.target.value });
  const given = { caller, refused, since, until, library: params.library, top_k: count };
  const load = (signal) => get("v1/audit", given, signal);
  return html`<div class="filters">
      <label>${t("caller")} <input value=${caller} onChange=${set("caller")} /></label>
      <label>${t("what")} <select value=${refused} onChange=${set("refused")}>
        <option value="">${t("everything")}</option>
        <option value="true">${t("refusedOnly")}</option>
        <option value="false">${t("allowedOnly")}</option></select></label>
      <label>${t("from")} <input type="date" value=${since} onChange=${set("since")} /></label>
      <label>${t("until")} <input type="date" value=${until} onChange=${set("until")} /></label>
    </div>
    <${Part} load=${load} inputs=${[JSON.stringify(given)]}>${({ entries }) => html`
      <${List} entries=${entries} />
      ${entries.length === count && count < ROWS.at(-1) && html`<p><button class="button"
        onClick=${() => go("operations", { ...params, rows: ROWS[ROWS.indexOf(count) + 1] })}>
        ${t("more")}</button></p>`}`}<//>`;
}

function List({ entries }) {
  const t = useTexts(texts);
  const format = useFormats();
  const columns = [
    [t("at"), (row) => html`<time datetime=${row.at}>${format.moment(row.at)}</time>`],
    [t("caller"), (row) =>
      [row.caller, row.role && `(${row.role})`].filter(Boolean).join(" ") || "–"],
    [t("action"), (row) => html`<code>${row.action}</code>`],
    [t("library"), (row) => row.library ?? "–"],
    [t("outcome"), (row) => (row.allowed ? t("allowed")
      : html`<span class="badge is-failed">${t("refused")}</span> ${row.reason}`)],
    [t("address"), (row) => row.address ?? "–"],
  ];
  return html`<${Table} caption=${t("tab_audit")} columns=${columns} rows=${entries}
    nothing=${t("noEntry")} keyOf=${(row) => row.audit_id} />`;
}
