// A question, the answer of a language model, and the sources that it rests on.

import { go, Link } from "../core/address.mjs";
import { service, useLoaded } from "../core/api.mjs";
import { html, useEffect, useRef, useState } from "../core/html.mjs";
import { announce, Copy, Failure } from "../core/parts.mjs";
import { Rating } from "../core/rating.mjs";
import { useStore } from "../core/store.mjs";
import { useTexts } from "../core/texts.mjs";
import { sourcesOf, useAnswer } from "./answer.mjs";
import { QueryBox, Scope, useScope } from "./head.mjs";
import { place, Sources } from "./sources.mjs";
import { texts } from "./texts.mjs";
import { citationsOf, copied, saidAt, Written } from "./written.mjs";

const EXAMPLE = "PGRAG_LLM_URL=http://localhost:11434/v1\nPGRAG_LLM_MODEL=qwen3:8b";

export function View({ params }) {
  const t = useTexts(texts);
  const { answer, ask, stop } = useAnswer(params);
  const known = useStore(service);
  const scope = useScope(params.library);
  const isConfigured = known?.answers?.configured !== false && answer.phase !== "unconfigured";
  // Who lacks a key is told so when they ask.
  const mayAsk = known?.may?.answer !== false || !known.caller;
  const answers = isConfigured && mayAsk;
  const isBusy = answer.phase === "asking" || answer.phase === "writing";
  useEffect(() => {
    const said = { done: "complete", stopped: "stopped", failed: "cutShort" }[answer.phase];
    if (said) announce(`${t(said)} ${answer.whole ? worth(answer, t) : ""}`);
  }, [answer.phase]);

  function asked(q) {
    const next = { ...params, q };
    go("ask", next);
    if (answers) ask(next);
  }

  return html`<${Box} params=${params} scope=${scope} answer=${answer} isBusy=${isBusy}
      onAsk=${asked} onStop=${stop} />
    <main class="said" id="content">${
      !params.q ? html`<div class="answer"><h2>${t("title")}</h2>
          <p class="soft">${t("what")}</p>
          ${!isConfigured && mayAsk && html`
            <${HowTo} remedy=${known?.answers?.remedy ?? ""} />`}</div>`
      : !answers ? html`<${Unanswered} params=${params} known=${known} answer=${answer}
          mayAsk=${mayAsk} />`
      : html`<${Answered} answer=${answer} params=${params} isBusy=${isBusy} known=${known}
          onAsk=${() => ask(params)} />`}</main>`;
}

const worth = ({ whole }, t) => {
  const n = whole.sentences.filter((each) => each.is_supported).length;
  return whole.sentences.length > 0 ? t("supportedOf", { n, all: whole.sentences.length }) : "";
};

function Box({ params, scope, answer, isBusy, onAsk, onStop }) {
  const t = useTexts(texts);
  const told = [
    answer.tokens !== undefined && t("tokens", { n: answer.tokens }),
    answer.whole?.model,
    answer.whole ? worth(answer, t) : isBusy && t(answer.phase),
  ].filter(Boolean);
  const halt = html`<button type="button" class="button" onClick=${onStop}>${t("stop")}</button>`;
  return html`<${QueryBox} value=${params.q} title=${t("title")} label=${t("question")}
    action=${t("ask")} onSubmit=${onAsk} extra=${isBusy && halt}>
    <${Scope} params=${params} scope=${scope}
      onChange=${(chosen) => go("ask", { ...params, ...chosen })} />
    <span class="count">${told.join(" · ")}</span><//>`;
}

/** The answer, or the question that was not asked yet. */
function Answered({ answer, params, isBusy, known, onAsk }) {
  const t = useTexts(texts);
  const [chosen, choose] = useState(null);
  const from = useRef(null);
  const { phase, whole, text } = answer;
  const { q, library, version } = params;
  useEffect(() => choose(null), [q, library, version, phase === "asking"]);
  if (phase === "idle") {
    return html`<div class="answer"><p>${t("notAsked")}</p>
      <p>${t("pressEnter")}${" "}
        <button class="button main" onClick=${onAsk}>${t("ask")}</button></p></div>`;
  }
  const isDenied = whole?.status === "not_in_documentation";
  const citations = citationsOf(answer);
  const saidBy = {};
  for (const citation of citations) {
    for (const number of citation.numbers) saidBy[number] ??= saidAt(answer, citation);
  }
  const cited = new Set(citations.flatMap((each) => each.numbers)
    .filter((number) => answer.sources.some((source) => source.number === number)));
  return html`<div>
      ${isDenied ? html`<${Nothing} params=${params} text=${whole.model && text} />`
        : html`<${Written} answer=${answer} params=${params}
            onChoose=${(number, said, link) => (from.current = link, choose({ number, said }))} />`}
      ${phase === "asking" && html`<p class="soft">${t("asking")}</p>`}
      ${phase === "stopped" && html`<p class="soft">${t("stopped")}</p>`}
      ${phase === "failed" && html`${text && html`<p>${t("cutShort")}</p>`}
        <${Failure} problem=${answer.problem} onRetry=${onAsk} />`}
      ${answer.notices?.map((notice) => html`<p class="soft">${notice}</p>`)}
      ${!isBusy && html`<div class="row">
        ${answer.search_id && whole && known?.may?.rate !== false &&
          html`<${Rating} key=${answer.search_id} rated=${{ search_id: answer.search_id }}
            kind="button" words=${{
              helpful: t("helpful"), useless: t("notHelpful"), thanks: t("rated"),
            }} />`}
        ${text && !isDenied && html`<${Copy} text=${copied(answer)} label=${t("copy")} />`}
        ${phase !== "failed" &&
          html`<button class="button" onClick=${onAsk}>${t("again")}</button>`}</div>`}
      ${whole?.related.length > 0 && html`<h2>${t("related")}</h2><ul class="related">
        ${whole.related.map((each) => html`<li><${Link} view="search" params=${place(each, params)}>
          ${(each.path ?? [each.title]).join(" › ")}<//></li>`)}</ul>`}
    </div>
    ${answer.sources.length > 0 && html`<${Sources} sources=${answer.sources} cited=${cited}
      chosen=${chosen} saidBy=${saidBy} params=${params}
      onBack=${() => from.current?.focus()} />`}`;
}

function Nothing({ params, text }) {
  const t = useTexts(texts);
  return html`<div class="answer"><p><strong>${t("noSources")}</strong></p>
    ${text && html`<p class="soft" dir="auto">${text}</p>`}
    <p>${t("noSourcesHint")}</p>
    <${Link} class="button" view="search" params=${params}>${t("toSearch")}<//></div>`;
}

/** Without a language model, or the right to ask it: the way out, and what an answer would have. */
function Unanswered({ params, known, answer, mayAsk }) {
  const t = useTexts(texts);
  const { q, library, version } = params;
  const [tries, retry] = useState(0);
  const { value, problem } = useLoaded(
    (signal) => sourcesOf(params, signal), [q, library, version, tries],
  );
  const sources = value?.sources ?? [];
  return html`<div class="answer">
      ${mayAsk ? html`<${HowTo} remedy=${known?.answers?.remedy ??
          [answer.problem?.detail, answer.problem?.hint].filter(Boolean).join(" ")} />`
        : html`<div class="card"><strong>${t("mayNot")}</strong><p>${t("mayNotHint")}</p></div>`}
      ${problem && html`<${Failure} problem=${problem} onRetry=${() => retry(tries + 1)} />`}
      ${value && sources.length === 0 && html`<${Nothing} params=${params} />`}
      ${sources.length > 0 && html`<p>${t("unconfiguredSources")}</p>
        <p class="soft">${t("tokens", { n: value.tokens })}</p>`}
      ${value?.notices.map((notice) => html`<p class="soft">${notice}</p>`)}
    </div>
    ${sources.length > 0 && html`<${Sources} sources=${sources} cited=${new Set()} chosen=${null}
      saidBy=${Object.fromEntries(sources.map((each) => [each.number, q]))} params=${params} />`}`;
}

function HowTo({ remedy }) {
  const t = useTexts(texts);
  return html`<div class="card"><strong>${t("unconfigured")}</strong><p>${remedy}</p>
    <p>${t("guide")}</p>
    <pre tabindex="0"><code>${EXAMPLE}</code></pre>
  </div>`;
}
