// What the tabs of the reader have in common.

import { html } from "../core/html.mjs";
import { Link } from "../core/address.mjs";
import { Failure } from "../core/parts.mjs";
import { useTexts } from "../core/texts.mjs";
import { texts } from "./texts.mjs";

/** The panel of the chosen tab: it scrolls by itself, also by keys. */
export const Panel = ({ label, children, ...others }) => html`<div class="reader-panel"
  id="reader-panel" role="tabpanel" tabindex="0" aria-label=${label}
  ...${others}>${children}</div>`;

/** The parameters of the address with which the reader shows a page, a passage or an anchor. */
export const at = (params, page, document, anchor, line) =>
  ({ ...params, page, document, at: anchor || null, line, tab: null });

/** A link that opens in the reader. */
export function Inside({ params, page, document, anchor, line, children, ...others }) {
  const place = at(params, page, document, anchor, line);
  return html`<${Link} view="search" params=${place} ...${others}>${children}<//>`;
}

const GONE = ["unknown-page", "unknown-document"];
export const isGone = (problem) => GONE.some((type) => problem?.type?.endsWith(`/${type}`));

/** What a tab shows while it loads, or instead of what it could not load; else its children. */
export function Loading({ state, params, onRetry, children }) {
  const t = useTexts(texts);
  if (isGone(state.problem)) return html`<${Gone} params=${params} />`;
  if (state.problem) return html`<${Failure} problem=${state.problem} onRetry=${onRetry} />`;
  if (state.value === null) return html`<p class="soft reader-wait">${t("loading")}</p>`;
  return children(state.value);
}

function Gone({ params }) {
  const t = useTexts(texts);
  const { q, library, version } = params;
  return html`<div class="failure" role="alert"><strong>${t("gone")}</strong><p>${t("goneHint")}</p>
    <${Link} class="button" view="search" params=${{ q, library, version }}>${t("again")}<//>
  </div>`;
}

/** The address of a page in the world, if it has one that a browser may follow. */
export function outside(address) {
  try {
    const parsed = new URL(address);
    return ["http:", "https:"].includes(parsed.protocol) ? parsed.href : null;
  } catch {
    return null;
  }
}
