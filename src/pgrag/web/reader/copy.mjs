// This search as a call in other languages, and this passage as a link.

import { html } from "../core/html.mjs";
import { get, service, useLoaded } from "../core/api.mjs";
import { base, href } from "../core/address.mjs";
import { Copy } from "../core/parts.mjs";
import { useStore } from "../core/store.mjs";
import { useTexts } from "../core/texts.mjs";
import { cli, curl, markdown, mcp, python, sql } from "./calls.mjs";
import { outside, Panel } from "./parts.mjs";
import { texts } from "./texts.mjs";

export function CopyAs({ place, request }) {
  const t = useTexts(texts);
  const needs_key = useStore(service)?.needs_key ?? true;
  const call = request?.q ? mcp(request) : null;
  const notes = {
    curl: needs_key && t("keyNote"),
    python: t("databaseNote"),
    cli: t("databaseNote"),
    sql: request?.rerank && t("lacksNote", { names: "rerank" }),
    mcp: call?.without.length > 0 && t("lacksNote", { names: call.without.join(", ") }),
  };
  const forms = call && {
    sql: sql(request), curl: curl(request, { base, needs_key }), python: python(request),
    mcp: call.text, cli: cli(request),
  };
  return html`<${Panel} label=${t("copy")}>
    ${forms && html`<p class="soft">${t("thisSearch")}</p>`}
    ${forms && Object.entries(forms).map(([name, text]) => html`
      <${Form} key=${name} label=${t(`as_${name}`)} text=${text} note=${notes[name]} />`)}
    <${PageLink} place=${place} />
  <//>`;
}

function Form({ label, text, note }) {
  const t = useTexts(texts);
  const name = html`${t("copyIt")}<span class="unseen"> ${label}</span>`;
  return html`<section class="form" aria-label=${label}>
    <div class="form-head"><h2>${label}</h2>
      <${Copy} text=${text} label=${name} /></div>
    <pre tabindex="0"><code>${text}</code></pre>
    ${note && html`<p class="soft">${note}</p>`}
  </section>`;
}

/** A link to the passage where it was published; without such an address, to this page. */
function PageLink({ place }) {
  const t = useTexts(texts);
  const { value } = useLoaded(
    (signal) => place.hit ?? get(`v1/pages/${encodeURIComponent(place.page)}`, {}, signal),
    [place],
  );
  if (!value) return null;
  const published = outside(value.url);
  const anchor = value.anchor ?? place.at;
  const here = href("search", { page: value.page_id, document: place.document, at: place.at });
  const address = published ? published + (anchor ? `#${anchor}` : "") : new URL(here, base).href;
  const text = markdown({ title: value.title, heading: value.heading, address });
  return html`<${Form} label=${t("as_markdown")} text=${text} />`;
}
