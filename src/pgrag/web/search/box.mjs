// The field: searched as one types, whatever the input method; the list obeys its keys.

import { html, useEffect, useRef } from "../core/html.mjs";
import { isComposing, useKeys } from "../core/keys.mjs";
import { useTexts } from "../core/texts.mjs";
import { texts } from "./texts.mjs";
import { idOf } from "./hits.mjs";

// Keyboards on glass compose each word, also a Latin one: there a pause searches for what is being
// composed. Elsewhere composed letters are not yet words.
const composesAll = () => matchMedia("(any-pointer: coarse)").matches;

/**
 * `onType(words, started, pausesOnly)` for each change, `onEnter()` for the whole search; `onKey`
 * has the keys of the list first, and prevents the default of those it has used.
 */
export function Box({ words, active, isExpanded, field, onType, onEnter, onClear, onKey }) {
  const t = useTexts(texts);
  const own = useRef({ isComposing: false }).current;
  useKeys({ "/": () => field.current.select() });
  useEffect(() => {
    field.current.focus({ preventScroll: true });
    field.current.setSelectionRange(words.length, words.length);
  }, []);
  function changed(event) {
    const isHalf = event.isComposing || own.isComposing;
    if (!isHalf) onType(event.target.value, performance.now());
    else onType(event.target.value, performance.now(), composesAll() ? "pauses" : "nothing");
  }
  function composed(event) {
    own.isComposing = false;
    onType(event.target.value, performance.now());
  }
  function pressed(event) {
    if (isComposing(event)) return;
    onKey(event);
    if (event.defaultPrevented) return;
    if (event.key === "Enter") {
      event.preventDefault();
      onEnter();
    } else if (event.key === "Escape" && words) {
      event.preventDefault();
      onClear();
    }
  }
  function submitted(event) {
    event.preventDefault();
    onEnter();
  }
  function emptied() {
    onClear();
    field.current.focus();
  }
  return html`<form class="field" role="search" onSubmit=${submitted}>
    <svg width="18" height="18" viewBox="0 0 20 20" fill="none" stroke="currentColor"
      stroke-width="1.8" aria-hidden="true">
      <circle cx="8.5" cy="8.5" r="6" /><path d="m13 13 5 5" /></svg>
    <input ref=${field} value=${words} role="combobox" aria-label=${t("search")} dir="auto"
      aria-expanded=${String(isExpanded)} aria-controls=${isExpanded ? "hits" : null}
      aria-autocomplete="list" aria-activedescendant=${active ? idOf(active) : null}
      placeholder=${t("placeholder")} autocomplete="off" autocapitalize="off" autocorrect="off"
      spellcheck=${false} enterkeyhint="search" onInput=${changed} onKeyDown=${pressed}
      onCompositionStart=${() => (own.isComposing = true)} onCompositionEnd=${composed} />
    ${words
      ? html`<button type="button" class="plain clear" aria-label=${t("clear")}
          onClick=${emptied}>✕</button>`
      : html`<kbd aria-hidden="true">/</kbd>`}
  </form>`;
}
