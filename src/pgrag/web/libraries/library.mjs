// One library: its versions with what reading lost, and tabs for the chosen one.

import { get } from "../core/api.mjs";
import { Link, go } from "../core/address.mjs";
import { html } from "../core/html.mjs";
import { Tabs } from "../core/parts.mjs";
import { Heading, Part, Table } from "../core/tables.mjs";
import { useFormats, useTexts } from "../core/texts.mjs";
import { Changes } from "./changes.mjs";
import { Links } from "./links.mjs";
import { pathOf, shownLabel, sourceOf, wish } from "./names.mjs";
import { Tasks } from "./overview.mjs";
import { Pages } from "./pages.mjs";
import { Health, Properties, Written } from "./state.mjs";
import { texts } from "./texts.mjs";

const TABS = {
  pages: Pages, links: Links, changes: Changes, health: Health, properties: Properties,
  written: Written,
};

export function Library({ params }) {
  const t = useTexts(texts);
  const { library } = params;
  const path = pathOf(library);
  const load = (signal) => Promise.all([
    get(path, {}, signal), get(`${path}/versions`, {}, signal), get(`${path}/reading`, {}, signal),
  ]);
  return html`<div class="head"><${Heading}>${library}<//>
      <${Tasks} library=${library} version=${params.version} /></div>
    <${Part} load=${load} inputs=${[library]}>${([about, { versions }, reading]) => html`
      <${About} about=${about} />
      ${versions.length ? html`<${Versions} params=${params} versions=${versions}
          reading=${reading.versions} />`
        : html`<p class="soft">${t("noVersion")}</p>`}`}<//>`;
}

function About({ about }) {
  const t = useTexts(texts);
  const { library, model, language } = about;
  return html`<p class="soft">${t("versionCount", { n: about.versions })},
    ${" "}${t("pageCount", { n: about.pages })}, ${t("passageCount", { n: about.documents })}.
    ${" "}${t("language")} ${language}${model ? html`, ${t("model")} <code>${model}</code>` : ""}.
    ${" "}<${Link} view="search" params=${{ library }}>${t("searchIt")}<//></p>`;
}

function Versions({ params, versions, reading }) {
  const t = useTexts(texts);
  const { library, version } = params;
  const label = version === "-" ? "" : version;
  const asked = versions.find((each) => each.version === label);
  const chosen = asked ?? versions.find((each) => each.is_newest) ?? versions[0];
  const name = Object.hasOwn(TABS, params.show ?? "") ? params.show : "pages";
  const Tab = TABS[name];
  const choose = (show) => go("libraries", { library, version, show });
  return html`
    <${VersionTable} library=${library} versions=${versions} reading=${reading} chosen=${chosen}
      show=${params.show} />
    ${version && !asked && html`<p class="soft">${t("otherVersion", {
      version, shown: shownLabel(chosen.version, t),
    })}</p>`}
    <div class="below"><${Tabs} id="library" label=${t("partsOf")} chosen=${name} onChoose=${choose}
      tabs=${Object.keys(TABS).map((each) => [each, t(`tab_${each}`)])} />
    <div role="tabpanel" id="library-panel" aria-label=${t(`tab_${name}`)}>
      <${Tab} key=${`${name} ${library} ${chosen.version}`} params=${params} versions=${versions}
        library=${library} label=${chosen.version} /></div></div>`;
}

function VersionTable({ library, versions, reading, chosen, show }) {
  const t = useTexts(texts);
  const format = useFormats();
  const read = (row) => reading.find((each) => each.version === row.version) ?? {};
  const columns = [
    [t("version"), (row) => html`<${Link} view="libraries"
      params=${{ library, version: wish(row.version), show }}
      aria-current=${row === chosen ? "true" : null}>${shownLabel(row.version, t)}<//>
      ${row.is_newest && html` <span class="badge">${t("newest")}</span>`}
      ${row.status !== "ready" && html` <span class="badge">${t("beingIndexed")}</span>`}`],
    [t("pages"), (row) => format.number(row.pages), true],
    [t("passages"), (row) => format.number(row.documents), true],
    [t("warnings"), (row) => format.number(read(row).warnings ?? 0), true],
    [t("wordsKept"), (row) => (read(row).words_shown
      ? format.percent(read(row).words_kept / read(row).words_shown, 1) : "–"), true],
    [t("brokenLinks"), (row) => format.number(read(row).broken_links ?? 0), true],
    [t("lastIndexed"), (row) => html`<time datetime=${row.updated_at}
      title=${format.moment(row.updated_at)}>${format.ago(row.updated_at)}</time>`],
    [t("source"), (row) => html`<span class="source">${sourceOf(row.source, t)}</span>`],
  ];
  return html`<${Table} caption=${t("versions")} columns=${columns} rows=${versions}
    keyOf=${(row) => row.version} />`;
}
