// The head of views that take one query: its field, the library and version that are read, and why.

import { get, useLoaded } from "./api.mjs";
import { html, useEffect, useRef, useState } from "./html.mjs";
import { isComposing, useKeys } from "./keys.mjs";
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

/**
 * The field, and below it what the view adds as `children`. `onSubmit(words)` is told of Enter;
 * `extra` stands in the field, at its end. ArrowDown leads into what was found: `onDown()`.
 */
export function QueryBox({ value = "", title, label, action, extra, onSubmit, onDown, children }) {
  const field = useRef();
  const [written, write] = useState(value);
  useEffect(() => write(value), [value]);
  useEffect(() => (value ? undefined : field.current.focus()), []);
  useKeys({ "/": () => field.current.select() });
  function submit(event) {
    event.preventDefault();
    if (written.trim()) onSubmit(written.trim());
  }
  function pressed(event) {
    if (isComposing(event)) return event.key === "Enter" && event.preventDefault();
    if (event.key !== "ArrowDown" || !onDown) return false;
    event.preventDefault();
    return onDown();
  }
  return html`<form class="box" role="search" onSubmit=${submit}>
    <h1 class="unseen">${title}</h1>
    <div class="field">
      <input ref=${field} value=${written} onInput=${(event) => write(event.target.value)}
        aria-label=${label} placeholder=${title} maxlength="4000" enterkeyhint="go"
        autocomplete="off" onKeyDown=${pressed} />
      ${extra}
      <button class="plain" aria-label=${action}><kbd>↵</kbd></button>
    </div>
    <div class="scope">${children}</div>
  </form>`;
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
