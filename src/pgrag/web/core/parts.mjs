// What several views show in the same way.

import { Link, useAddress } from "./address.mjs";
import { html, useEffect, useRef } from "./html.mjs";
import { useTexts } from "./texts.mjs";
import { texts } from "./texts.shared.mjs";

/** Say something to readers who do not see the page; the same words again are said again. */
export function announce(words) {
  const region = document.getElementById("told");
  if (!region) return;
  region.textContent = "";
  requestAnimationFrame(() => (region.textContent = words));
}

/** A failure with the way out; `onRetry` adds a button. Who lacks a key, or has one that is not
 * valid any more, signs in and comes back to this address. */
export function Failure({ problem, onRetry }) {
  const t = useTexts(texts);
  const { view, params } = useAddress();
  const known = {
    unreachable: ["unreachable", "unreachableHint"],
    "/problems/key-required": ["keyRequired", "keyRequiredHint"],
  }[problem.type];
  const title = known ? t(known[0]) : problem.detail || problem.title || String(problem);
  const wait = problem.retryAfter > 0 ? t("retryIn", { n: problem.retryAfter }) : "";
  return html`<div class="failure" role="alert">
    <strong>${title}</strong>
    <p>${known ? t(known[1]) : problem.hint} ${wait}</p>
    ${problem.status === 401 && html`<${Link} class="button main" view="sign-in"
      params=${{ ...params, to: view }}>${t("signIn")}<//> `}
    ${onRetry && html`<button class="button" onClick=${onRetry}>${t("retry")}</button>`}
  </div>`;
}

/** A text in which `**` surrounds what the search has marked. */
export function Marked({ text }) {
  return (text ?? "").split("**").map((part, n) => (n % 2 ? html`<mark>${part}</mark>` : part));
}

/** Inline code between backticks, as headings have it. */
export function Inline({ text }) {
  return (text ?? "")
    .split(/`([^`]+)`/)
    .map((part, n) => (n % 2 ? html`<code>${part}</code>` : part));
}

export function Crumbs({ path }) {
  return html`<div class="crumbs">${path.join(" › ")}</div>`;
}

/** A switch in the form of a chip: pressed or not. */
export function Chip({ pressed, onPress, children, ...others }) {
  return html`<button type="button" class="chip" aria-pressed=${String(Boolean(pressed))}
    onClick=${onPress} ...${others}>${children}</button>`;
}

/**
 * Tabs by the arrow keys, of which one is chosen. `tabs`: `[[name, label], …]`. The panel is the
 * caller's: an element with `role="tabpanel"` and the id `${id}-panel`.
 */
export function Tabs({ id, label, tabs, chosen, onChoose }) {
  const list = useRef();
  function move(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const end = { Home: 0, End: tabs.length - 1 }[event.key];
    if (step === undefined && end === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const at = tabs.findIndex(([name]) => name === chosen);
    const next = end ?? (at + step + tabs.length) % tabs.length;
    onChoose(tabs[next][0]);
    list.current.children[next].focus();
  }
  return html`<div class="tabs" role="tablist" aria-label=${label} ref=${list} onKeyDown=${move}>
    ${tabs.map(([name, text]) => html`<button type="button" role="tab" key=${name}
      aria-selected=${String(name === chosen)} aria-controls="${id}-panel"
      tabindex=${name === chosen ? 0 : -1} onClick=${() => onChoose(name)}>${text}</button>`)}
  </div>`;
}

/**
 * A dialog over the page, open as long as it is drawn; Esc and a press beside it close it. The
 * focus goes back to where it was.
 */
export function Dialog({ label, onClose, children, ...others }) {
  const dialog = useRef();
  useEffect(() => {
    const element = dialog.current;
    const before = document.activeElement;
    element.showModal();
    return () => {
      element.close();
      before?.focus();
    };
  }, []);
  const beside = (event) => event.target === dialog.current && onClose();
  return html`<dialog ref=${dialog} aria-label=${label} onCancel=${onClose} onClose=${onClose}
    onClick=${beside} ...${others}><div class="within">${children}</div></dialog>`;
}

/** Copy a text; rejects if the browser refuses. Without TLS only the older way is there. */
async function written(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = Object.assign(document.createElement("textarea"), { value: text, readOnly: true });
  const focused = document.activeElement;
  document.body.append(field);
  field.select();
  const is_copied = document.execCommand("copy");
  field.remove();
  focused?.focus();
  if (!is_copied) throw new Error("not copied");
}

/** A button that copies a text, and says so. */
export function Copy({ text, label }) {
  const t = useTexts(texts);
  const copy = () => written(text).then(
    () => announce(t("copied")),
    () => announce(t("notCopied")),
  );
  return html`<button type="button" class="button" onClick=${copy}>${label ?? t("copy")}</button>`;
}

/** Parts that add up, as one bar: `[[class, label, share of the whole width], …]`. */
export function Bar({ parts, label }) {
  return html`<span class="meter" role="img" aria-label=${label} title=${label}>
    ${parts.map(([kind, , share]) => html`<i class=${kind}
      style=${{ width: `${Math.max(0, share) * 100}%` }}></i>`)}
  </span>`;
}
