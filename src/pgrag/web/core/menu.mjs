// A choice of one among many, in a list that opens below a button and can be searched.

import { html, useEffect, useLayoutEffect, useRef, useState } from "./html.mjs";
import { isComposing } from "./keys.mjs";
import { useTexts } from "./texts.mjs";
import { texts } from "./texts.shared.mjs";

/** From so many options on there is a field to search in; so many are shown at once. */
const SEARCHED = 9;
const SHOWN = 100;

/**
 * A button that opens a list. `options`: `[[value, label, note], …]`; `label` names the choice to
 * readers who do not see it, `children` is what the button shows.
 */
export function Menu({ id, label, options, chosen, onChoose, pressed, children }) {
  const [isOpen, open] = useState(false);
  const whole = useRef();
  const button = useRef();
  useEffect(() => {
    if (!isOpen) return undefined;
    const outside = (event) => whole.current.contains(event.target) || open(false);
    addEventListener("pointerdown", outside);
    return () => removeEventListener("pointerdown", outside);
  }, [isOpen]);
  function close() {
    open(false);
    button.current.focus();
  }
  function choose(value) {
    close();
    onChoose(value);
  }
  function pressedOn(event) {
    if (event.key === "ArrowDown") open(true);
    else if (event.key === "Escape" && isOpen) close();
    else return;
    event.preventDefault();
  }
  return html`<span class="menu" ref=${whole}>
    <button type="button" class="chip" ref=${button} aria-haspopup="listbox"
      aria-expanded=${String(isOpen)} aria-label=${label} data-pressed=${pressed || null}
      onClick=${() => open(!isOpen)} onKeyDown=${pressedOn}>
      ${children} <i aria-hidden="true">▾</i></button>
    ${isOpen && html`<${List} id=${id} label=${label} options=${options} chosen=${chosen}
      onChoose=${choose} onClose=${close} />`}
  </span>`;
}

function List({ id, label, options, chosen, onChoose, onClose }) {
  const t = useTexts(texts);
  const [words, write] = useState("");
  const [at, move] = useState(() => Math.max(0, options.findIndex(([value]) => value === chosen)));
  const first = useRef();
  const list = useRef();
  useLayoutEffect(() => first.current.focus(), []);
  const sought = words.trim().toLowerCase();
  const fitting = options.filter(([, text]) => text.toLowerCase().includes(sought));
  const shown = fitting.slice(0, Math.max(SHOWN, sought ? 0 : at + 1));
  const active = Math.min(at, shown.length - 1);
  useEffect(() => {
    list.current.children[active]?.scrollIntoView({ block: "nearest" });
  }, [active]);
  function pressed(event) {
    if (isComposing(event)) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const end = { Home: 0, End: shown.length - 1 }[event.key];
    if (step) move((active + step + shown.length) % (shown.length || 1));
    else if (end !== undefined && event.target === list.current) move(end);
    else if (event.key === "Enter" || (event.key === " " && event.target === list.current)) {
      if (shown[active]) onChoose(shown[active][0]);
    } else if (event.key === "Escape") onClose();
    else {
      if (event.key === "Tab") onClose();
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
  const points = { "aria-activedescendant": shown.length ? `${id}-${active}` : null };
  const isSearched = options.length >= SEARCHED;
  const n = fitting.length - shown.length;
  return html`<div class="drop" onKeyDown=${pressed}>
    ${isSearched && html`<input ref=${first} role="combobox" aria-label=${label} value=${words}
      aria-expanded="true" aria-autocomplete="list" aria-controls=${id} ...${points}
      placeholder=${t("find")} onInput=${(event) => (write(event.target.value), move(0))} />`}
    <div role="listbox" id=${id} aria-label=${label} tabindex="0"
      ref=${(element) => ((list.current = element), isSearched || (first.current = element))}
      ...${isSearched ? {} : points}>
      ${shown.map(([value, text, note], n) => html`<div role="option" id="${id}-${n}" key=${value}
        class=${n === active ? "active" : ""} aria-selected=${String(value === chosen)}
        onClick=${() => onChoose(value)}>${text} ${note && html`<small>${note}</small>`}</div>`)}
    </div>
    ${n > 0 && html`<p>${t("more", { n })}</p>`}
    ${fitting.length === 0 && html`<p>${t("noneFits")}</p>`}
  </div>`;
}
