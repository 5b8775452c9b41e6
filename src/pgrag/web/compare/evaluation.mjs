// Both sides on all queries of a set: the difference, and whether it may be chance.

import { Link } from "../core/address.mjs";
import { get, post } from "../core/api.mjs";
import { html, useEffect, useRef, useState } from "../core/html.mjs";
import { announce, Failure } from "../core/parts.mjs";
import { useFormats, useTexts } from "../core/texts.mjs";
import { argumentsOf, labelOf } from "./settings.mjs";
import { texts } from "./texts.mjs";

const LONGEST_NAME = 60;

function configuration(given, params, t) {
  const version = given.version || params.version;
  return {
    name: labelOf(given, t).slice(0, LONGEST_NAME), function: "search",
    arguments: { ...argumentsOf(given), ...(version && { version }) },
  };
}

export function Evaluation({ set, sides, params }) {
  const t = useTexts(texts);
  const [state, show] = useState({});
  const running = useRef(null);
  useEffect(() => {
    show({});
    return () => running.current?.abort();
  }, [set, params.left, params.right, params.version]);
  const hasReranker = sides.some((given) => given.rerank === "true");

  async function evaluate() {
    const abort = (running.current = new AbortController());
    const runs = [];
    const tell = (next) => abort.signal.aborted || show(next);
    try {
      for (const given of sides) {
        tell({ step: runs.length + 1 });
        const body = configuration(given, params, t);
        const address = `v1/evaluations/${encodeURIComponent(set)}/runs`;
        runs.push(await post(address, body, abort.signal));
      }
      const [run, other] = runs.map((each) => each.run_id);
      const found = await get(
        `v1/evaluation-runs/${run}/comparison`, { other, metric: "ndcg@10", moved: 10 },
        abort.signal,
      );
      tell({ found });
      if (!abort.signal.aborted) announce(verdict(found, t));
    } catch (problem) {
      tell({ problem });
    }
  }

  return html`<div>
    <button type="button" class="button main" onClick=${evaluate}
      disabled=${!set || hasReranker || state.step > 0}>${t("evaluate")}</button>
    ${" "}<span class="soft">${
      state.step ? t("running", { n: state.step })
      : hasReranker ? t("noReranker") : set ? t("evaluateHint", { set }) : t("chooseSet")}</span>
    ${state.problem && html`<${Failure} problem=${state.problem} onRetry=${evaluate} />`}
    ${state.found && html`<${Found} found=${state.found} params=${params} />`}
  </div>`;
}

function verdict(found, t) {
  if (found.lower_bound === null) return t("tooFew", { n: found.queries });
  const isSure = found.lower_bound > 0 || found.upper_bound < 0;
  if (!isSure) return t("maybeChance");
  return found.difference > 0 ? t("rightBetter") : t("leftBetter");
}

function Found({ found, params }) {
  const t = useTexts(texts);
  const { number } = useFormats();
  const signed = (value) => (value > 0 ? "+" : value < 0 ? "−" : "±") + number(Math.abs(value), 3);
  return html`<p><strong>${verdict(found, t)}</strong></p>
    <dl class="figures">
      <div><dt>${t("left")}</dt><dd>${number(found.score, 3)}</dd></div>
      <div><dt>${t("right")}</dt><dd>${number(found.other_score, 3)}</dd></div>
      <div><dt>${t("difference")}</dt><dd>${signed(found.difference)}</dd></div>
      ${found.lower_bound !== null && html`<div><dt>${t("interval")}</dt>
        <dd>${t("range", { low: signed(found.lower_bound), high: signed(found.upper_bound) })}</dd>
      </div>`}
      <div><dt>p</dt><dd>${number(found.p_value, 4)}</dd></div>
      <div><dt>${t("outcomes")}</dt><dd>${found.wins} · ${found.losses} · ${found.ties}</dd></div>
    </dl>
    <p class="soft">${t("measured", { n: found.queries })}</p>
    ${found.moved.length > 0 && html`<div class="wide" tabindex="0"><table class="list">
      <caption>${t("moved")}</caption>
      <thead><tr><th scope="col">${t("query")}</th><th scope="col" class="n">${t("left")}</th>
        <th scope="col" class="n">${t("right")}</th>
        <th scope="col" class="n">${t("difference")}</th></tr></thead>
      <tbody>${found.moved.map((one) => html`<tr>
        <td><${Link} view="compare" params=${{ ...params, q: one.query }}>${one.query}<//></td>
        <td class="n">${number(one.score, 3)}</td><td class="n">${number(one.other_score, 3)}</td>
        <td class="n">${signed(one.difference)}</td></tr>`)}</tbody></table></div>`}`;
}
