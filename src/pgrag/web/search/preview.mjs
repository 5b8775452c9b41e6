// The place of the reader beside the list, with what belongs to the search: back, and a rating.

import { service, useLoaded } from "../core/api.mjs";
import { html, useEffect, useRef } from "../core/html.mjs";
import { Failure } from "../core/parts.mjs";
import { Rating } from "../core/rating.mjs";
import { useStore } from "../core/store.mjs";
import { useTexts } from "../core/texts.mjs";
import { texts } from "./texts.mjs";

/** `hit`: null where only the address names a page; `isFocused`: the reader asked for it. */
export function Preview({ hit, request, params, isFocused, onBack }) {
  const t = useTexts(texts);
  const known = useStore(service);
  const element = useRef();
  const { value, problem } = useLoaded(() => import("../reader/view.mjs"), []);
  const isLoaded = Boolean(value);
  useEffect(() => {
    if (!isFocused) return;
    const reader = element.current.querySelector("#reader") ?? element.current;
    reader.focus({ preventScroll: true });
  }, [isFocused, isLoaded, hit?.document_id]);
  return html`<div class="preview" tabindex="-1" ref=${element}>
    <button type="button" class="button back" onClick=${onBack}>← ${t("back")}</button>
    ${problem && html`<${Failure} problem=${{ detail: t("partFailed"), hint: t("partHint") }}
      onRetry=${() => location.reload()} />`}
    ${value && html`<${value.Reader} hit=${hit} request=${request} params=${params} />`}
    ${hit?.search_id && (!known || known.may.rate) && html`<div class="rating">
      <span>${t("didItHelp")}</span> <${Rating} key=${hit.document_id} kind="chip"
        rated=${{ search_id: hit.search_id, document_id: hit.document_id }} words=${{
          helpful: t("helpful"), useless: t("notHelpful"), thanks: t("thanks"),
        }} /></div>`}
  </div>`;
}
