// How many pages have what, and the choice among it.

import { html, useState } from "../core/html.mjs";
import { useFormats, useTexts } from "../core/texts.mjs";
import { FILTERS, isNarrowed, toggled, valuesOf } from "./arguments.mjs";
import { texts } from "./texts.mjs";

/** So many values of a facet are shown at first. */
const SHOWN = 8;

/** `counts`: the answer of the service; `versions`: of the library, the newest first. */
export function Facets({ counts, problem, params, change, library, versions, isWide, onWiden }) {
  const t = useTexts(texts);
  const facets = counts?.facets ?? {};
  const places = library ? [] : ["library"];
  if (params.version === "*") places.push("version");
  const names = [...places, ...FILTERS];
  const chosen = FILTERS.flatMap((name) => valuesOf(params[name]));
  return html`
    <details open=${isWide}>
      <summary>${t("facets")}
        ${chosen.length > 0 && html` <span class="badge">${chosen.join(", ")}</span>`}</summary>
      ${isNarrowed(params) && html`<p>
        <button type="button" class="plain" onClick=${onWiden}>${t("widen")}</button></p>`}
      ${problem && html`<p class="soft">${t("facetsFailed")} ${problem.detail}</p>`}
      ${names.map((name) => html`<${Facet} key=${name} name=${name} params=${params}
        change=${change} values=${facets[name] ?? []} />`)}
      <${ChangedSince} params=${params} change=${change} versions=${versions} />
    </details>`;
}

function Facet({ name, values, params, change }) {
  const t = useTexts(texts);
  const { number } = useFormats();
  const [isWhole, show] = useState(false);
  const isPlace = name === "library" || name === "version";
  const chosen = isPlace ? [] : valuesOf(params[name]);
  if (!values.length) return null;
  const shown = isWhole ? values : values.filter(({ value }, n) => n < SHOWN || chosen.includes(value));
  const choose = (value) =>
    change({ [name]: isPlace ? value || "-" : toggled(params[name], value) });
  return html`<fieldset><legend>${t(`facet_${name}`)}</legend>
    ${shown.map(({ value, page_count }) => html`<button type="button" key=${value} class="value"
      aria-pressed=${String(chosen.includes(value))} onClick=${() => choose(value)}>
      <span>${labelOf(name, value, t)}</span>
      <span class="n">${number(page_count)}</span></button>`)}
    ${values.length > shown.length && html`<button type="button" class="plain"
      onClick=${() => show(true)}>${t("moreValues", { n: values.length - shown.length })}</button>`}
  </fieldset>`;
}

/** Folders are counted from the root: `/tasks/administer-cluster` is shown without the slash. */
function labelOf(name, value, t) {
  if (name === "version" && !value) return t("unversioned");
  return name === "path" ? value.replace(/^\//, "") : value;
}

/** Only what is new or was changed since an older version of the library. */
function ChangedSince({ params, change, versions }) {
  const t = useTexts(texts);
  const { changed_since } = params;
  const older = versions.slice(1).map((each) => each.version).filter(Boolean);
  if (!older.length && !changed_since) return null;
  const offered = [...new Set([changed_since, ...older].filter(Boolean))];
  return html`<label class="since">${t("changedSince")}
    <select value=${changed_since ?? ""}
      onChange=${(event) => change({ changed_since: event.target.value })}>
      <option value="">${t("anyTime")}</option>
      ${offered.map((version) => html`<option value=${version}>${version}</option>`)}
    </select></label>`;
}
