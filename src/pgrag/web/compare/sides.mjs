// Two lists of hits, lines between those that both have, a grade for each.

import { Link } from "../core/address.mjs";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../core/html.mjs";
import { Failure, Inline } from "../core/parts.mjs";
import { useFormats, useTexts } from "../core/texts.mjs";
import { texts } from "./texts.mjs";

const GRADES = [0, 1, 2];
const SIDES = ["left", "right"];

/**
 * `lists`: for each side `{label, hits, problem, loading, retry, notices, ndcg, judged}`;
 * `gradeOf(hit)` gives 0, 1, 2 or undefined; `onGrade(hit, grade)` is null for who may not grade.
 */
export function Sides({ lists, pairs, params, gradeOf, onGrade, first }) {
  const two = useRef();
  const [current, setCurrent] = useState({ side: 0, place: 0 });
  const link = (side, place) =>
    two.current.querySelector(`[data-side="${SIDES[side]}"] li:nth-child(${place + 1}) a`);
  first.current = () => (link(0, 0) ?? link(1, 0))?.focus();

  function pressed(event) {
    const row = event.target.closest("[data-side] li");
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    const side = SIDES.indexOf(row.parentElement.dataset.side);
    const place = [...row.parentElement.children].indexOf(row);
    const grade = ["Backspace", "Delete"].includes(event.key)
      ? null
      : GRADES.find((n) => String(n) === event.key);
    if (grade !== undefined && onGrade) {
      event.preventDefault();
      onGrade(lists[side].hits[place], grade);
      return;
    }
    const to = moved(event.key, side, place);
    if (!to) return;
    event.preventDefault();
    link(...to)?.focus();
  }

  /** Where an arrow leads: along a side, or to the same hit on the other one. */
  function moved(key, side, place) {
    if (key === "ArrowDown") return [side, Math.min(place + 1, lists[side].hits.length - 1)];
    if (key === "ArrowUp") return [side, Math.max(place - 1, 0)];
    const other = { ArrowLeft: 0, ArrowRight: 1 }[key];
    if (other === undefined || other === side) return null;
    const pair = pairs.find((each) => each[SIDES[side]] === place);
    return [other, pair?.[SIDES[other]] ?? Math.min(place, lists[other].hits.length - 1)];
  }

  function focused(event) {
    const row = event.target.closest("[data-side] li");
    if (!row) return;
    const side = SIDES.indexOf(row.parentElement.dataset.side);
    setCurrent({ side, place: [...row.parentElement.children].indexOf(row) });
  }

  return html`<div class="two" ref=${two} onKeyDown=${pressed} onFocusIn=${focused}>
    <${Side} side=${0} list=${lists[0]} pairs=${pairs} params=${params} current=${current}
      gradeOf=${gradeOf} onGrade=${onGrade} />
    <${Lines} pairs=${pairs} two=${two} />
    <${Side} side=${1} list=${lists[1]} pairs=${pairs} params=${params} current=${current}
      gradeOf=${gradeOf} onGrade=${onGrade} other=${lists[0].hits} />
  </div>`;
}

function Side({ side, list, pairs, params, current, gradeOf, onGrade, other }) {
  const t = useTexts(texts);
  const { score } = useFormats();
  const partner = new Map(pairs.map((pair) => [pair[SIDES[side]], pair[SIDES[1 - side]]]));
  const isCurrent = (place) =>
    current.side === side ? place === Math.min(current.place, list.hits.length - 1)
      : place === 0 && side === 1 - current.side;
  return html`<section class="col" aria-busy=${String(list.loading)}>
    <h2>${list.label} ${list.judged > 0 && html`<small>${
      t("ndcg", { score: score(list.ndcg) })} ${t("judged", { n: list.judged })}</small>`}</h2>
    ${list.problem && html`<${Failure} problem=${list.problem} onRetry=${list.retry} />`}
    ${list.notices?.map((notice) => html`<p class="soft">${notice}</p>`)}
    ${!list.problem && !list.loading && list.hits.length === 0 && html`<p>${t("nothing")}</p>`}
    <ol data-side=${SIDES[side]} aria-label=${list.label}>
      ${list.hits.map((hit, place) => html`<${Row} key=${`${hit.document_id}-${place}`} hit=${hit}
        place=${place} partner=${partner.get(place) ?? null} side=${side} params=${params}
        isCurrent=${isCurrent(place)} grade=${gradeOf(hit)} onGrade=${onGrade}
        before=${other?.[partner.get(place)]} />`)}
    </ol></section>`;
}

function Row({ hit, place, partner, side, params, isCurrent, grade, onGrade, before }) {
  const t = useTexts(texts);
  const only = partner === null ? (side === 0 ? "gone" : "only") : "";
  const address = {
    q: params.q, library: params.library || hit.library, version: hit.version,
    page: hit.page_id, document: hit.document_id,
  };
  return html`<li class=${`row ${only}`}>
    <span class="n">${place + 1}</span>
    <div class="what">
      <${Link} view="search" params=${address} tabindex=${isCurrent ? 0 : -1}>
        <${Inline} text=${hit.heading || hit.title} /><//>
      <small>${params.library ? "" : `${hit.library} · `}${
        hit.heading && hit.heading !== hit.title ? hit.title : hit.key}</small>
    </div>
    <${Move} only=${only} by=${side === 1 && partner !== null ? partner - place : 0} />
    ${before && before.content !== hit.content && html`<span class="badge">${t("differs")}</span>`}
    ${onGrade && html`<span class="grades" role="group" aria-label=${t("grade")}>${
      GRADES.map((n) => html`<button type="button" key=${n} aria-pressed=${String(grade === n)}
        tabindex=${isCurrent ? 0 : -1} title=${t(`grade${n}`)}
        aria-label=${`${n}: ${t(`grade${n}`)}`}
        onClick=${() => onGrade(hit, grade === n ? null : n)}>${n}</button>`)}</span>`}
  </li>`;
}

/** What became of a hit, by a sign and a word, not by colour alone. */
function Move({ only, by }) {
  const t = useTexts(texts);
  if (only) {
    return html`<span class="move ${only}">${only === "gone" ? "−" : "+"} ${t(only)}</span>`;
  }
  if (by === 0) return null;
  const n = Math.abs(by);
  return html`<span class="move ${by > 0 ? "up" : "down"}"><span aria-hidden="true">${
    by > 0 ? "▲" : "▼"} ${n}</span>
    <span class="unseen">${t(by > 0 ? "up" : "down", { n })}</span></span>`;
}

/** Curves from row to row, drawn where the rows are. */
function Lines({ pairs, two }) {
  const [drawn, draw] = useState([]);
  const picture = useRef();
  const measure = () => {
    if (!picture.current) return;
    const from = picture.current.getBoundingClientRect();
    const middle = (side, place) => {
      const row = two.current.querySelector(`[data-side="${side}"] li:nth-child(${place + 1})`);
      const box = row?.getBoundingClientRect();
      return box && box.top + box.height / 2 - from.top;
    };
    const w = from.width;
    const both = pairs.filter(({ left, right }) => left !== null && right !== null);
    draw(both.map(({ left, right }) => {
      const [one, other] = [middle("left", left), middle("right", right)];
      const kind = left === right ? "same" : left > right ? "up" : "down";
      return { kind, d: `M0,${one} C${w / 2},${one} ${w / 2},${other} ${w},${other}` };
    }));
  };
  useLayoutEffect(measure, [pairs]);
  useEffect(() => {
    const seen = new ResizeObserver(measure);
    seen.observe(two.current);
    return () => seen.disconnect();
  }, [pairs]);
  return html`<svg class="lines" ref=${picture} aria-hidden="true">
    ${drawn.map(({ kind, d }) => html`<path class=${kind} d=${d} />`)}</svg>`;
}
