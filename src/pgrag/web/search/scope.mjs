// Where is searched, and how: library, version, retrievers, links.

import { Link, go } from "../core/address.mjs";
import { html } from "../core/html.mjs";
import { Menu } from "../core/menu.mjs";
import { Chip } from "../core/parts.mjs";
import { useTexts } from "../core/texts.mjs";
import { MODES } from "./arguments.mjs";
import { texts } from "./texts.mjs";

/** The name of the documentation without a version, in an address and for people. */
export const UNVERSIONED = "-";
const EVERY = "*";

/** The reasons that the service gives for a version, in German where they are fixed words. */
const REASONS = {
  "the newest release": "reasonNewest", exact: "reasonExact",
  "the newest tag; there is no release": "reasonTag",
  "the newest pre-release; there is no release": "reasonPrerelease",
  "the unversioned documentation": "reasonUnversioned", "the only version": "reasonOnly",
};

/** Why a version is read, in the reader's language where the reason is one of fixed words. */
export const reasonOf = (t, reason) => (REASONS[reason] ? t(REASONS[reason]) : reason ?? "");

/**
 * `change(values)` goes to the address with other values; `library` is the one that is searched,
 * if it is one, `resolved` the version of it that was read.
 */
export function Scope({ params, change, libraries, library, versions, resolved, children }) {
  const t = useTexts(texts);
  const known = libraries.find((each) => each.library === library);
  const mode = params.mode ?? "hybrid";
  const links = params.graph ? params.graph === "true" : Boolean(known?.settings.graph?.search);
  // Another library has other versions, and other values of each filter.
  const choose = (name) => go("search", { q: params.q, mode: params.mode, library: name });
  const names = libraries.map((each) => [each.library, each.library]);
  return html`<div class="scope">
    ${libraries.length > 1 && html`
      <${Menu} id="libraries" label=${t("library")} chosen=${params.library ?? ""}
        pressed=${Boolean(params.library)} onChoose=${choose}
        options=${[["", t("allLibraries")], ...names]}>
        <b>${params.library ?? t("allLibraries")}</b><//>`}
    ${libraries.length === 1 && html`
      <span class="chip" data-pressed="true"><b>${library}</b></span>`}
    ${library && html`<${VersionMenu} params=${params} change=${change} versions=${versions}
      resolved=${resolved} />`}
    ${params.library && libraries.length > 1 && html`
      <${Chip} pressed=${false} onPress=${() => choose("")}>${t("allLibraries")}<//>`}
    ${libraries.length > 0 && html`<span class="between" aria-hidden="true">·</span>`}
    <${Menu} id="modes" label=${t("modeLabel")} chosen=${mode} pressed=${mode !== "hybrid"}
      options=${MODES.map((each) => [each, t(each)])}
      onChoose=${(next) => change({ mode: next === "hybrid" ? "" : next })}>${t(mode)}<//>
    ${mode === "hybrid" && html`<${Chip} pressed=${links}
      onPress=${() => change({ graph: String(!links) })}>${t("linksCount")}<//>`}
    <span class="count">${children}</span>
  </div>`;
}

function VersionMenu({ params, change, versions, resolved }) {
  const t = useTexts(texts);
  const name = (label) => label || t("unversioned");
  const every = params.version === EVERY;
  const read = resolved?.version ?? versions.find((each) => each.is_newest)?.version;
  const options = [
    ["", t("newest"), t("newestNote")],
    ...versions.map((each) => [each.version || UNVERSIONED, name(each.version)]),
    ...(versions.length > 1 ? [[EVERY, t("allVersions")]] : []),
  ];
  if (versions.length < 2) {
    return read && html`<span class="chip" data-pressed="true">${read}
      ${resolved && html` <small>${reasonOf(t, resolved.reason)}</small>`}</span>`;
  }
  return html`<${Menu} id="versions" label=${t("version")} chosen=${params.version ?? ""}
    options=${options} pressed=${true} onChoose=${(version) => change({ version })}>
    ${every ? t("allVersions") : html`${read === undefined ? t("version") : name(read)}
      ${resolved && html` <small>${reasonOf(t, resolved.reason)}</small>`}`}<//>`;
}

/** So many other versions are offered at once; the others are in the menu. */
const OFFERED = 3;

/** Which version was read and why, the way to others, and what the service noticed. */
export function Resolved({ answer, params, library, versions }) {
  const t = useTexts(texts);
  const [read] = answer.resolved ?? [];
  // That nothing matches well, and why this version is read, is said in words of our own.
  const isSaid = (notice) => notice.startsWith("No good match")
    || (library && read && notice.includes(read.reason));
  const notices = (answer.notices ?? []).filter((each) => !isSaid(each));
  const to = (version) => ({ ...params, version, hit: "", page: "", count: "" });
  const others = versions.filter((each) => each.version !== read?.version).slice(0, OFFERED);
  return html`
    ${library && read && params.version !== EVERY && html`<p class="note">
      ${read.library} ${read.version || t("unversioned")}, ${reasonOf(t, read.reason)}.${" "}
      ${others.map(({ version }) => html`<${Link} key=${version} view="search"
        params=${to(version || UNVERSIONED)}>${version || t("unversioned")}<//> · `)}
      ${others.length > 0 && html`
        <${Link} view="search" params=${to(EVERY)}>${t("allVersions")}<//>`}
    </p>`}
    ${notices.map((each) => html`<p class="note" key=${each}>${each}</p>`)}`;
}

/** How many passages on how many pages, and in what time. */
export function Totals({ counts, answer }) {
  const t = useTexts(texts);
  const n = answer.groups.length;
  const { passages, pages, exact } = counts?.total ?? {};
  const took = answer.took === null ? "" : ` · ${t("took", { ms: Math.round(answer.took) })}`;
  if (passages === undefined) return html`${t(answer.next ? "toldAtLeast" : "told", { n })}${took}`;
  const total = t(exact === false ? "totalAtLeast" : "total", {
    passages: t("passages", { n: passages }), pages: t("onPages", { n: pages }) });
  return html`${total}${took}`;
}
