// Which library and version a view reads, and why that version.

import { get, useLoaded } from "./api.mjs";
import { html } from "./html.mjs";
import { useTexts } from "./texts.mjs";
import { texts } from "./texts.shared.mjs";

export const pathOf = (library) => `v1/libraries/${encodeURIComponent(library)}`;

/** The libraries and the versions of the chosen one, as far as the caller may see them. */
export function useScope(library) {
  const { value: libraries } = useLoaded(
    (signal) => get("v1/libraries", {}, signal).then((found) => found.libraries), [],
  );
  const { value: versions } = useLoaded(async (signal) => {
    if (!library) return [];
    const found = await get(`${pathOf(library)}/versions`, {}, signal);
    return found.versions.filter((each) => each.status === "ready");
  }, [library]);
  return { libraries: libraries ?? [], versions: versions ?? [] };
}

/** Two choices; `onChange({library, version})` is told of a new one. `scope` is of `useScope`. */
export function Scope({ params, scope, onChange }) {
  const t = useTexts(texts);
  const { library = "", version = "" } = params;
  const { value: resolved, problem } = useLoaded(
    async (signal) => (library ? get("v1/resolve", { library, version }, signal) : null),
    [library, version],
  );
  const names = scope.libraries.map((each) => each.library);
  const labels = scope.versions.map((each) => each.version || "-");
  return html`
    <select class="chip" aria-label=${t("library")} value=${library}
      onChange=${(event) => onChange({ library: event.target.value, version: "" })}>
      <option value="">${t("allLibraries")}</option>
      ${options(names, library)}
    </select>
    ${library && html`<select class="chip" aria-label=${t("version")} value=${version}
      onChange=${(event) => onChange({ library, version: event.target.value })}>
      <option value="">${t("newestVersion")}</option>
      ${options(labels, version)}
    </select>`}
    ${resolved && html`<small>${resolved.version} ${resolved.reason}</small>`}
    ${problem?.status === 404 && html`<small role="alert">${problem.detail} ${problem.hint}</small>`}`;
}

/** Options; what the address names is among them even if nothing else has it. */
export function options(values, chosen) {
  const all = !chosen || values.includes(chosen) ? values : [chosen, ...values];
  return all.map((value) => html`<option key=${value} value=${value}>${value}</option>`);
}
