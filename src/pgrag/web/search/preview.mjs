// The place of the reader beside the list, with what belongs to the search: back, and a rating.

import { post, service, useLoaded } from "../core/api.mjs";
import { html, useEffect, useRef, useState } from "../core/html.mjs";
import { Failure, announce } from "../core/parts.mjs";
import { useStore } from "../core/store.mjs";
import { useTexts } from "../core/texts.mjs";
import { texts } from "./texts.mjs";

/** `hit`: null where only the address names a page; `isFocused`: the reader asked for it. */
export function Preview({ hit, request, params, isFocused, onBack }) {
  const t = useTexts(texts);
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
    ${hit?.search_id && html`<${Rating} key=${hit.document_id} hit=${hit} />`}
  </div>`;
}

const USEFUL = 5;
const USELESS = 1;

/** Whether a hit helped: the search that found it is rated. */
function Rating({ hit }) {
  const t = useTexts(texts);
  const known = useStore(service);
  const [given, set] = useState(null);
  const [problem, fail] = useState(null);
  if (known && !known.may.rate) return null;
  async function rate(rating) {
    const { search_id, document_id } = hit;
    try {
      await post("v1/feedback", { search_id, document_id, rating });
      set(rating);
      fail(null);
      announce(t("thanks"));
    } catch (refusal) {
      fail(refusal);
    }
  }
  const button = (rating, name) => html`<button type="button" class="chip"
    aria-pressed=${String(given === rating)} onClick=${() => rate(rating)}>${t(name)}</button>`;
  return html`<div class="rating"><span>${t("didItHelp")}</span>
    ${button(USEFUL, "helpful")} ${button(USELESS, "notHelpful")}
    ${given && html`<span class="soft">${t("thanks")}</span>`}
    ${problem && html`<${Failure} problem=${problem} />`}</div>`;
}
