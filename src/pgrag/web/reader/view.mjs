// The reader: a page of the documentation beside the list of hits, and what is known about it.

import { html, useMemo } from "../core/html.mjs";
import { go } from "../core/address.mjs";
import { Tabs } from "../core/parts.mjs";
import { styled } from "../core/styles.mjs";
import { useTexts } from "../core/texts.mjs";
import { CopyAs } from "./copy.mjs";
import { Neighbours } from "./neighbours.mjs";
import { Page } from "./page.mjs";
import { texts } from "./texts.mjs";
import { Versions } from "./versions.mjs";
import { Why } from "./why.mjs";

await styled(new URL("./reader.css", import.meta.url).href);

const TABS = { page: Page, why: Why, neighbours: Neighbours, versions: Versions, copy: CopyAs };

/**
 * A page, with a passage marked. `hit` is the chosen hit of the search that `request` asks for (the
 * arguments of `GET /v1/search`), or null. `params` are those of the address: `page` and `document`
 * name what is read instead of the hit, `at` an anchor in it, `line` where a part of a long page
 * begins, and `tab` one of TABS.
 */
export function Reader({ hit, request, params }) {
  const t = useTexts(texts);
  const inputs = [hit, params.page, params.document, params.at, params.line];
  const place = useMemo(() => placeOf(hit, params), inputs);
  if (place === null) return null;
  const names = Object.keys(TABS).filter((name) => name !== "why" || place.hit);
  const chosen = names.includes(params.tab) ? params.tab : "page";
  const Chosen = TABS[chosen];
  const choose = (tab) => go("search", { ...params, tab: tab === "page" ? null : tab });
  return html`<section class="reader" id="reader" tabindex="-1" aria-label=${t("reader")}>
    <${Tabs} id="reader" label=${t("about")} tabs=${names.map((name) => [name, t(name)])}
      chosen=${chosen} onChoose=${choose} />
    <${Chosen} key=${chosen} place=${place} request=${request} params=${params} />
  </section>`;
}

/** What is read: `{page, document, at, line, hit}`; the hit only if it is on this page, or null. */
function placeOf(hit, params) {
  const page = params.page ?? hit?.page_id;
  if (page === undefined) return null;
  const { at = null } = params;
  const line = /^[1-9]\d{0,8}$/.test(params.line ?? "") ? params.line : null;
  const is_of_hit = String(hit?.page_id) === String(page);
  const own = is_of_hit && at === null && line === null ? hit.document_id : null;
  return { page, document: params.document ?? own, at, line, hit: is_of_hit ? hit : null };
}
