// The elements of the dialog: a field over a list, with a line of help below.

import { make } from "./results.mjs";

/** Make the dialog; `on` has the listeners. */
export function frame({ words, placeholder, on }) {
  const input = make("input", {
    class: "input", role: "combobox", "aria-autocomplete": "list",
    "aria-expanded": "false", "aria-controls": "list", "aria-label": words.title,
    "aria-describedby": "keys", autocomplete: "off", autocapitalize: "off", spellcheck: "false",
    enterkeyhint: "go", maxlength: 1000, placeholder, ...on.input,
  });
  const select = make("select", {
    class: "version", "aria-label": words.version, hidden: "", ...on.select,
  });
  const note = make("p", { class: "note" });
  const list = make("div", {
    class: "list", id: "list", role: "listbox", "aria-label": words.title,
    // The field keeps the focus, so that the reader goes on writing.
    mousedown: (event) => event.preventDefault(),
  });
  const after = make("div", { class: "note" });
  const body = make("div", { class: "body", tabindex: "0" }, note, list, after);
  const live = make("div", { class: "unseen", role: "status" });
  const count = make("span", { class: "count" });
  const key = (name) => make("kbd", {}, name);
  const hint = (keys, text) =>
    make("span", { class: "hints", "aria-hidden": "true" }, keys.map(key), ` ${text}`);
  const versions = hint(["tab"], words.version);
  versions.hidden = true;
  const keys = make("span", { class: "unseen", id: "keys" }, words.keys);
  const vote = make("span", { class: "vote", hidden: "" });
  const close = make("button", {
    class: "close", type: "button", "aria-label": words.close, ...on.close,
  }, "esc");
  const footer = make("footer", { class: "footer" },
    hint(["↑", "↓"], words.move), hint(["↵"], words.open), versions, vote, count);
  const glass = make("span", { class: "glass", "aria-hidden": "true" });
  const field = make("div", { class: "field" }, glass, input, select, close);
  const dialog = make("dialog", {
    class: "dialog", "aria-label": words.title, lang: words.language, ...on.dialog,
  }, field, body, live, keys, footer);
  return { dialog, input, select, note, list, after, body, live, count, versions, keys, vote };
}

export const button = (text, click, attributes = {}) =>
  make("button", { type: "button", class: "action", ...attributes, click }, text);
