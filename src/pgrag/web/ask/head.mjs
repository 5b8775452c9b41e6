// The head of views that take one query: its field, the library and version that are read, and why.

import { get, useLoaded } from "../core/api.mjs";
import { html, useEffect, useRef, useState } from "../core/html.mjs";
import { isComposing, useKeys } from "../core/keys.mjs";
import { Menu } from "../core/menu.mjs";
import { useTexts } from "../core/texts.mjs";
import { reasonOf, UNVERSIONED } from "../search/scope.mjs";
import { texts } from "../search/texts.mjs";

/**
 * The libraries, the one that is read, also if there is only one, and its versions, as far as the
 * caller may see them.
 */
export function useScope(chosen) {
  const { value } = useLoaded((signal) => get("v1/libraries", {}, signal), []);
  const libraries = value?.libraries ?? [];
  const library = chosen || (libraries.length === 1 ? libraries[0].library : "");
  const { value: versions } = useLoaded(async (signal) => {
    if (!library) return [];
    const path = `v1/libraries/${encodeURIComponent(library)}/versions`;
    const found = await get(path, {}, signal);
    return found.versions.filter((each) => each.status === "ready");
  }, [library]);
  return { libraries, library, versions: versions ?? [] };
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
  const { library } = scope;
  const { version = "" } = params;
  const { value: resolved, problem } = useLoaded(
    async (signal) => (library ? get("v1/resolve", { library, version }, signal) : null),
    [library, version],
  );
  const named = (label) => (label === UNVERSIONED || !label ? t("unversioned") : label);
  const names = scope.libraries.map((each) => [each.library, each.library]);
  const labels = scope.versions.map(({ version: each }) => [each || UNVERSIONED, named(each)]);
  return html`
    <${Menu} id="libraries" label=${t("library")} chosen=${library} pressed=${Boolean(library)}
      options=${[["", t("allLibraries")], ...names]}
      onChoose=${(chosen) => onChange({ library: chosen, version: "" })}>
      <b>${library || t("allLibraries")}</b><//>
    ${library && html`<${Menu} id="versions" label=${t("version")} chosen=${version} pressed=${true}
      options=${[["", t("newest"), t("newestNote")], ...labels]}
      onChoose=${(chosen) => onChange({ library, version: chosen })}>
      ${resolved ? named(resolved.version) : version || t("newest")}
      ${resolved && html` <small>${reasonOf(t, resolved.reason)}</small>`}<//>`}
    ${problem?.status === 404 &&
      html`<small role="alert">${problem.detail} ${problem.hint}</small>`}`;
}
