// Keys that work wherever the reader is, except while they write.

import { useEffect } from "./html.mjs";

const isWriting = (element) =>
  element.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(element.tagName);

/**
 * Call `actions[event.key](event)` for keys pressed outside of fields and dialogs. Keys with a
 * modifier are the browser's, and those for which an action returns false; a letter that is being
 * composed is no key.
 */
export function useKeys(actions) {
  useEffect(() => {
    function pressed(event) {
      const action = actions[event.key];
      if (!action || event.defaultPrevented || event.isComposing) return;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (isWriting(event.target) || document.querySelector("dialog[open]")) return;
      if (action(event) !== false) event.preventDefault();
    }
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  });
}

/** Whether a key belongs to an input method that is composing a word: it is no command. */
export const isComposing = (event) => event.isComposing || event.keyCode === 229;
