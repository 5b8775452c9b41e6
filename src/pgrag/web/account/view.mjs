// Signing in by key, and what the caller may do.

import { Link, go } from "../core/address.mjs";
import { service, signIn } from "../core/api.mjs";
import { html, useEffect, useRef, useState } from "../core/html.mjs";
import { Copy, Failure } from "../core/parts.mjs";
import { useStore } from "../core/store.mjs";
import { useFormats, useTexts } from "../core/texts.mjs";
import { texts } from "./texts.mjs";

const VIEWS = ["search", "ask", "compare", "libraries", "operations"];
const COMMAND = "pgrag keys create NAME --role search --libraries '*'";

/** `params.to` names the view that sent the reader here; the other parameters are its own. */
export function View({ params: { to, ...others } }) {
  const known = useStore(service);
  const cameFrom = VIEWS.includes(to) ? to : null;
  return html`<main id="content" class="sheet account">
    ${known?.caller
      ? html`<${Caller} known=${known} cameFrom=${cameFrom} params=${others} />`
      : html`<${Form} known=${known}
          onDone=${() => cameFrom && go(cameFrom, others, { replace: true })} />`}
  </main>`;
}

function Form({ known, onDone }) {
  const t = useTexts(texts);
  const [problem, fail] = useState(null);
  const [isBusy, wait] = useState(false);
  const field = useRef();
  useEffect(() => field.current.focus(), []);
  async function enter(event) {
    event.preventDefault();
    const key = field.current.value.trim();
    // A header takes ASCII only; for other letters the browser would fail without an answer.
    if (!key) {
      field.current.focus();
      return fail({ detail: t("empty") });
    }
    wait(true);
    try {
      await signIn(key.replace(/[^\x21-\x7e]/g, "?"));
      onDone();
    } catch (refusal) {
      fail(refusal.status === 401 ? { detail: refusal.detail, hint: refusal.hint } : refusal);
      wait(false);
      field.current.select();
    }
  }
  return html`<h1>${t("signIn")}</h1>
    <p>${t(known && !known.needs_key ? "open" : "why")}</p>
    <form onSubmit=${enter} aria-busy=${String(isBusy)}>
      <label>${t("key")}<input type="password" ref=${field} name="key" autocomplete="off"
        spellcheck=${false} placeholder="pgrag_sk_…" /></label>
      <button class="button main" disabled=${isBusy}>${t("signIn")}</button>
    </form>
    ${problem && html`<${Failure} problem=${problem} />`}
    <p class="soft">${t("kept")}</p>
    <p class="soft">${t("howTo")} <code>${COMMAND}</code> <${Copy} text=${COMMAND} /></p>
    ${known && html`<p><strong>${t("whoEver")}</strong></p><${May} may=${known.may} />`}`;
}

// The service answers without a key, too: that it does not can only mean that it is not there.
const signOut = () => signIn(null).catch(() => {});

function Caller({ known: { caller, may }, cameFrom, params }) {
  const t = useTexts(texts);
  const { moment } = useFormats();
  const isForAll = caller.libraries.includes("*");
  const facts = [
    ["role", caller.role],
    ["libraries", isForAll ? t("allLibraries") : caller.libraries.join(", ")],
    ["until", caller.expires_at ? moment(caller.expires_at) : t("forEver")],
  ];
  return html`<h1>${t("signedIn", { name: caller.name })}</h1>
    <dl class="facts">
      ${facts.map(([name, fact]) => html`
        <div key=${name}><dt>${t(name)}</dt><dd>${fact}</dd></div>`)}
    </dl>
    <${May} may=${may} />
    <p><${Link} class="button main" view=${cameFrom ?? "search"} params=${params}>${
      t(cameFrom ? "back" : "go")}<//> ${" "}
      <button type="button" class="button" onClick=${signOut}>${t("signOut")}</button></p>`;
}

/** What the caller may do, and what not. */
function May({ may }) {
  const t = useTexts(texts);
  const names = Object.keys(may).filter((name) => name in texts.en);
  const lists = [["mayHead", names.filter((name) => may[name])],
    ["mayNotHead", names.filter((name) => !may[name])]];
  return html`<div class="cards">
    ${lists.filter(([, each]) => each.length).map(([head, each]) => html`
      <section class="card" key=${head}><h2>${t(head)}</h2>
        <ul>${each.map((name) => html`<li key=${name}>${t(name)}</li>`)}</ul></section>`)}
  </div>`;
}
