// The frame of the page: its head, the view that the address names, help.

import { signIn, useLoaded, service } from "./core/api.mjs";
import { Link, useAddress } from "./core/address.mjs";
import { html, render, useEffect, useRef, useState } from "./core/html.mjs";
import { useKeys } from "./core/keys.mjs";
import { Dialog } from "./core/parts.mjs";
import { useStore } from "./core/store.mjs";
import { styled } from "./core/styles.mjs";
import { LANGUAGES, setLanguage, useFormats, useTexts } from "./core/texts.mjs";
import { texts } from "./core/texts.shared.mjs";
import { changeTheme } from "./core/theme.mjs";

const VIEWS = {
  search: () => import("./search/view.mjs"),
  ask: () => import("./ask/view.mjs"),
  compare: () => import("./compare/view.mjs"),
  libraries: () => import("./libraries/view.mjs"),
  operations: () => import("./operations/view.mjs"),
  "sign-in": () => import("./account/view.mjs"),
};
/** Views with a style of their own; that of the search comes with the page. */
const STYLES = ["ask", "compare", "libraries", "operations"];
const NAMES = { "sign-in": "signIn" };

const style = (view) =>
  STYLES.includes(view) && styled(new URL(`./${view}/${view}.css`, import.meta.url).href);

function Frame() {
  const { view, params } = useAddress();
  const [helps, setHelps] = useState(false);
  const t = useTexts(texts);
  const name = NAMES[view] ?? view;
  useKeys({ "?": () => setHelps(true) });
  useEffect(() => {
    const words = params.q || (view in VIEWS ? t(name) : t("notFound"));
    document.title = `${words} · pgrag`;
  });
  return html`
    <a class="skip" href="#content">${t("skip")}</a>
    <${Head} view=${view} params=${params} onHelp=${() => setHelps(true)} />
    ${view in VIEWS ? html`<${Loaded} key=${view} view=${view} params=${params} />`
      : html`<main class="sheet" id="content"><h1>${t("notFound")}</h1>
          <${Link} view="search">${t("toSearch")}<//></main>`}
    <div id="told" class="unseen" role="status" aria-live="polite"></div>
    ${helps && html`<${Help} onClose=${() => setHelps(false)} />`}`;
}

/** A view, loaded when it is first looked at. It has the parameters of the address. */
function Loaded({ view, params }) {
  const t = useTexts(texts);
  const { value, problem } = useLoaded(async () => {
    const [loaded] = await Promise.all([VIEWS[view](), style(view)]);
    return loaded;
  }, [view]);
  if (problem) {
    return html`<main class="sheet" id="content"><div class="failure" role="alert">
      <strong>${t("outdated")}</strong><p>${t("outdatedHint")}</p>
      <button class="button" onClick=${() => location.reload()}>${t("reload")}</button></div>
    </main>`;
  }
  return value ? html`<${value.View} params=${params} />` : html`<main id="content"></main>`;
}

function Head({ view, params, onHelp }) {
  const t = useTexts(texts);
  const { language } = useFormats();
  // What was searched, and where, goes along from view to view.
  const { q, library, version } = params;
  const links = ["search", "ask", "compare", "libraries", "operations"].map((name) => html`
    <${Link} key=${name} view=${name} params=${{ q, library, version }}
      aria-current=${name === view ? "page" : null}>${t(name)}<//>`);
  return html`<header class="bar">
    <${Link} class="name" view="search"><${Sign} />pgrag<//>
    <nav aria-label=${t("views")}>${links}</nav>
    <div class="end">
      <${Account} />
      <select aria-label=${t("language")} value=${language}
        onChange=${(event) => setLanguage(event.target.value)}>
        ${Object.entries(LANGUAGES).map(([code, name]) => html`
          <option value=${code}>${name}</option>`)}
      </select>
      <button class="plain" aria-label=${t("keys")} onClick=${onHelp}><kbd>?</kbd></button>
      <button class="button" aria-label=${t("theme")} onClick=${changeTheme}>◐</button>
    </div>
  </header>`;
}

/** Who is signed in, and what they may; where nobody is, the way to give a key. */
function Account() {
  const t = useTexts(texts);
  const { params, view } = useAddress();
  const known = useStore(service);
  if (!known) return null;
  const back = view === "sign-in" ? params : { ...params, to: view };
  if (known.caller) {
    return html`<${Link} view="sign-in" params=${back}>${known.caller.name}<//>
      <button class="plain" onClick=${() => signIn(null).catch(() => {})}>${t("signOut")}</button>`;
  }
  return html`<${Link} view="sign-in" params=${back}>${t("signIn")}<//>`;
}

function Sign() {
  const bars = [["words", 3, 18], ["meaning", 8.5, 12], ["page", 14, 7]];
  return html`<svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
    ${bars.map(([kind, y, width]) => html`<rect class=${`fill-${kind}`} x="1" y=${y}
      width=${width} height="3" rx="1.5" />`)}</svg>`;
}

function Help({ onClose }) {
  const t = useTexts(texts);
  const close = useRef();
  useEffect(() => close.current.focus(), []);
  const rows = [["/", "keySearch"], ["↑ ↓", "keyMove"], ["Enter", "keyOpen"], ["Esc", "keyLeave"],
    ["?", "keyHelp"]];
  return html`<${Dialog} label=${t("keys")} onClose=${onClose}>
    <h2>${t("keys")}</h2>
    <dl class="keys">${rows.map(([keys, name]) => html`
      <div><dt>${keys.split(" ").map((each) => html`<kbd>${each}</kbd> `)}</dt>
        <dd>${t(name)}</dd></div>`)}
    </dl>
    <button class="button" ref=${close} onClick=${onClose}>${t("close")}</button><//>`;
}

// Views wait for nothing: what the service allows is shown when it is known.
signIn(null).catch(() => {});
render(html`<${Frame} />`, document.getElementById("app"));
