// Fields of forms, each with the words of the service about what was given.

import { html, useEffect, useRef, useState } from "../core/html.mjs";
import { useTexts } from "../core/texts.mjs";
import { texts } from "./texts.mjs";

/**
 * Values of a form, their setters and complaints. A problem of the service with `errors` is told at
 * its fields, the first of which gets the focus; what belongs to no field stays in `problem`.
 */
export function useForm(start) {
  const [values, setValues] = useState(start);
  const [problem, setProblem] = useState(null);
  const form = useRef();
  const complaints = {};
  for (const { field, message } of problem?.errors ?? []) {
    complaints[field.split(".")[0]] ??= message;
  }
  useEffect(() => {
    const wrong = form.current?.querySelector("[aria-invalid=true]");
    if (!wrong) return;
    const folded = wrong.closest("details");
    if (folded) folded.open = true;
    wrong.focus();
  }, [problem]);
  const isTold = Object.keys(complaints).some((name) => name in values);
  return {
    values, form, complaints, setProblem, problem: isTold ? null : problem,
    set: (name) => (value) => setValues((before) => ({ ...before, [name]: value })),
  };
}

/** A labelled field of a form made by `useForm`. */
export function Field({ of, name, hint, options, required, ...others }) {
  const t = useTexts(texts);
  const complaint = of.complaints[name];
  const described = [hint && `${name}-hint`, complaint && `${name}-wrong`]
    .filter(Boolean).join(" ");
  const given = {
    id: name, name, value: of.values[name], required, "aria-invalid": complaint ? "true" : null,
    "aria-describedby": described || null, ...others,
  };
  const change = (event) => of.set(name)(event.target.value);
  return html`<div class="field">
    <label for=${name}>${t(`field_${name}`)}</label>
    ${options ? html`<select ...${given} onChange=${change}>${options.map((each) => html`
        <option value=${each}>${each || t("byDefault")}</option>`)}</select>`
      : html`<input ...${given} onInput=${change} />`}
    ${hint && html`<small id="${name}-hint">${hint}</small>`}
    ${complaint && html`<small id="${name}-wrong" class="wrong">${complaint}</small>`}
  </div>`;
}

/** Library and version, as all forms ask for them; names that exist are proposed. */
export function Target({ of, libraries }) {
  const t = useTexts(texts);
  return html`<div class="pair">
    <${Field} of=${of} name="library" required maxlength="200" list="libraries" autocomplete="off"
      hint=${t("hintLibrary")} />
    <datalist id="libraries">${libraries.map((each) => html`
      <option value=${each.library} />`)}</datalist>
    <${Field} of=${of} name="version" maxlength="200" autocomplete="off" hint=${t("hintVersion")} />
  </div>`;
}
