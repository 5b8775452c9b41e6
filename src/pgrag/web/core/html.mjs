// Elements by template: html`<p>${text}</p>`. Text is always text, never markup.

import { h, render } from "../vendor/preact.mjs";
import htm from "../vendor/htm.mjs";

export * from "../vendor/hooks.mjs";
export { render };
export const html = htm.bind(h);
