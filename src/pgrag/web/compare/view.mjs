// One query by two settings or in two versions, side by side.

import { QueryBox, Scope, useScope } from "../ask/head.mjs";
import { go } from "../core/address.mjs";
import { post, service, useLoaded } from "../core/api.mjs";
import { html, useEffect, useMemo, useRef, useState } from "../core/html.mjs";
import { announce, Failure } from "../core/parts.mjs";
import { useStore } from "../core/store.mjs";
import { useFormats, useTexts } from "../core/texts.mjs";
import { Evaluation } from "./evaluation.mjs";
import { targetOf, useGrades } from "./grades.mjs";
import { jaccard, ndcg, overlap, paired } from "./numbers.mjs";
import { argumentsOf, labelOf, SettingsForm, settingsOf, written } from "./settings.mjs";
import { Sides } from "./sides.mjs";
import { texts } from "./texts.mjs";

const SIDES = ["left", "right"];
const TOP = 10;
const SET_NAME = /^[a-z0-9][a-z0-9._-]{0,79}$/i;

export function View({ params }) {
  const t = useTexts(texts);
  const scope = useScope(params.library);
  const first = useRef(null);
  const sides = SIDES.map((name) => settingsOf(params[name]));
  const read = { ...params, library: scope.library };
  const found = [useSide(read, sides[0].given), useSide(read, sides[1].given)];
  const hits = found.map((side) => side.value?.hits ?? []);
  const pairs = useMemo(() => paired(...hits), [found[0].value, found[1].value]);
  const change = (changes) => go("compare", { ...params, ...changes });
  const isReady = params.q && found.every((side) => side.value && !side.loading);
  useEffect(() => {
    if (isReady) announce(summary(pairs, t).words);
  }, [isReady, pairs]);
  const wrong = sides.flatMap((side) => side.wrong);
  return html`<${QueryBox} value=${params.q} title=${t("title")} label=${t("query")}
      action=${t("compare")} onSubmit=${(q) => change({ q })} onDown=${() => first.current?.()}>
      <${Scope} params=${params} scope=${scope}
        onChange=${(chosen) => change({ ...chosen, ...kept(chosen, read, sides) })} />
      <${Settings} sides=${sides} scope=${scope} change=${change} />
      <span class="count">${isReady && html`<${Figures} pairs=${pairs} />`}</span><//>
    <main class="compare" id="content">
      ${wrong.length > 0 && html`<p role="alert">${t("wrong", { what: wrong.join(", ") })}</p>`}
      ${params.q ? html`<${Compared} params=${read} sides=${sides.map((side) => side.given)}
          found=${found} hits=${hits} pairs=${pairs} change=${change} first=${first} />`
        : html`<p class="soft">${t("what")}</p>`}</main>`;
}

/** The settings of the sides; without their versions if these are of another library. */
function kept(chosen, read, sides) {
  if (chosen.library === params.library) return {};
  const without = ({ given }) => written({ ...given, version: "" });
  return Object.fromEntries(SIDES.map((name, n) => [name, without(sides[n])]));
}

function useSide({ q, library, version }, given) {
  const [tries, retry] = useState(0);
  const scope = { library: library || undefined, version: version || undefined };
  const body = { query: q, ...scope, top_k: TOP, ...argumentsOf(given) };
  const loaded = useLoaded(
    async (signal) => (q ? post("v1/search", body, signal) : null), [JSON.stringify(body), tries],
  );
  return { ...loaded, retry: () => retry(tries + 1) };
}

function summary(pairs, t) {
  const common = pairs.filter(({ left, right }) => left !== null && right !== null).length;
  return { common, words: t("common", { n: common }) };
}

function Figures({ pairs }) {
  const t = useTexts(texts);
  const { score } = useFormats();
  if (pairs.length === 0) return null;
  return html`<span title=${t("figures")}>${summary(pairs, t).words} · Jaccard ${
    score(jaccard(pairs))} · RBO ${score(overlap(pairs))}</span>`;
}

/** A chip for each side that opens its form. */
function Settings({ sides, scope, change }) {
  const t = useTexts(texts);
  const [open, setOpen] = useState(null);
  const versions = scope.versions.map((each) => each.version || "-");
  const chip = (name, n) => html`<span>${t(name)} <button type="button" class="chip"
    aria-expanded=${String(open === n)} aria-controls=${`settings-${name}`}
    onClick=${() => setOpen(open === n ? null : n)}>${labelOf(sides[n].given, t)} ▾</button>
  </span>`;
  return html`${SIDES.map(chip)}
    ${open !== null && html`<${SettingsForm} key=${open} id=${`settings-${SIDES[open]}`}
      given=${sides[open].given} versions=${versions}
      onChange=${(given) => change({ [SIDES[open]]: written(given) })} />`}`;
}

/** A name for the set of a library, as `SET_NAME` has it. */
function nameFor(library) {
  const letters = library.toLowerCase().replace(/[^a-z0-9._-]+/g, "-").replace(/^[^a-z0-9]+/, "");
  return `${letters.slice(0, 72)}-graded`.replace(/^-/, "");
}

function Compared({ params, sides, found, hits, pairs, change, first }) {
  const t = useTexts(texts);
  const known = useStore(service);
  const may = known?.may?.evaluate === true;
  const [wish, setWish] = useState("section");
  const { q, library } = params;
  const isNamed = !params.set || SET_NAME.test(params.set);
  const set = isNamed ? params.set : undefined;
  const judging = useGrades({ set, q, library, wish, may });
  const { grades, unit } = judging;
  const gradeOf = (hit) => grades[targetOf(unit, hit)];
  const judged = Object.values(grades);

  function grade(hit, next) {
    const name = set || nameFor(library || hit.library);
    if (!set) go("compare", { ...params, set: name }, { replace: true });
    const title = hit.heading || hit.title;
    judging.grade(name, hit, next).then(
      () => announce(next === null ? t("ungraded") : t("graded", { n: next, title })),
      () => {},
    );
  }

  const lists = found.map((side, n) => {
    const targets = [...new Set(hits[n].map((hit) => targetOf(unit, hit)))];
    return {
      label: labelOf(sides[n], t), hits: hits[n], problem: side.problem, loading: side.loading,
      retry: side.retry,
      notices: side.value?.notices, judged: judged.length,
      ndcg: ndcg(targets.map((target) => grades[target] ?? 0), judged),
    };
  });
  return html`
    <${Sides} lists=${lists} pairs=${pairs} params=${params} gradeOf=${gradeOf}
      onGrade=${may ? grade : null} first=${first} />
    <section class="grading"><h2>${t("grades")}</h2>
      ${!may ? html`<p class="soft">${
          t(known?.caller || known?.needs_key ? "mayNot" : "readOnly")}</p>`
        : html`<p class="soft">${t("gradesHint")}</p>
          ${!isNamed && html`<p role="alert">${t("badSet", { set: params.set })}</p>`}
          <${SetChoice} set=${set} unit=${unit} isNew=${judging.isNew}
            sets=${judging.sets.filter((each) => !library || each.library === library)}
            onSet=${(name) => change({ set: name })} onUnit=${setWish} />
          ${judging.problem && html`<${Failure} problem=${judging.problem}
            onRetry=${judging.retry} />`}
          <${Evaluation} set=${set} sides=${sides} params=${params} />`}
    </section>`;
}

function SetChoice({ set = "", sets, unit, isNew, onSet, onUnit }) {
  const t = useTexts(texts);
  // What is being written outlasts answers that arrive meanwhile.
  const [written, setWritten] = useState(set);
  useEffect(() => setWritten(set), [set]);
  return html`<div class="scope">
    <label>${t("set")} <input value=${written} list="sets" maxlength="80" autocomplete="off"
      placeholder=${t("setHint")} onInput=${(event) => setWritten(event.target.value)}
      onChange=${(event) => onSet(event.target.value.trim())} /></label>
    <datalist id="sets">${sets.map((each) => html`<option value=${each.name}></option>`)}</datalist>
    <label>${t("unit")} <select value=${unit} disabled=${!isNew}
      onChange=${(event) => onUnit(event.target.value)}>
      ${["section", "page", "document"].map((name) =>
        html`<option value=${name}>${t(`of_${name}`)}</option>`)}
    </select></label></div>`;
}
