// Whether something helped: a recorded search, or one hit of it.

import { post } from "./api.mjs";
import { html, useState } from "./html.mjs";
import { Failure, announce } from "./parts.mjs";

// As `POST /v1/feedback` counts, from 1 to 5.
const HELPFUL = 5;
const USELESS = 1;

/**
 * Two buttons of the class `kind`. `rated`: `{search_id}`, with `document_id` one hit; `words`:
 * `{helpful, useless, thanks}`.
 */
export function Rating({ rated, words, kind }) {
  const [{ given, problem }, set] = useState({});
  const rate = (rating) => post("v1/feedback", { ...rated, rating }).then(
    () => (announce(words.thanks), set({ given: rating })),
    (refusal) => set({ given, problem: refusal }),
  );
  const button = (rating, label) => html`<button type="button" class=${kind}
    aria-pressed=${String(given === rating)} onClick=${() => rate(rating)}>${label}</button>`;
  return html`${button(HELPFUL, words.helpful)} ${button(USELESS, words.useless)}
    ${given && html`<span class="soft">${words.thanks}</span>`}
    ${problem && html`<${Failure} problem=${problem} />`}`;
}
