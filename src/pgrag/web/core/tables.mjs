// Parts of a view that load on their own, and tables: what the views for writers share.

import { useLoaded } from "./api.mjs";
import { Link, useAddress } from "./address.mjs";
import { html, useEffect, useRef, useState } from "./html.mjs";
import { Copy, Failure } from "./parts.mjs";
import { styled } from "./styles.mjs";
import { useTexts } from "./texts.mjs";
import { texts } from "./texts.tables.mjs";

await styled(new URL("../style/tables.css", import.meta.url).href);

// The first heading of a visit is where the page begins; those that follow a link get the focus
// that the link, which is gone, had.
let hasBegun = false;

export function Heading({ children }) {
  const heading = useRef();
  useEffect(() => {
    if (hasBegun && document.activeElement === document.body) heading.current.focus();
    hasBegun = true;
  }, []);
  return html`<h1 tabindex="-1" ref=${heading}>${children}</h1>`;
}

/** What `load(signal)` gives, drawn by its child, a function; a failure shows in its place. */
export function Part({ load, inputs = [], children }) {
  const [tries, setTries] = useState(0);
  const { value, problem, loading } = useLoaded(load, [...inputs, tries]);
  const t = useTexts(texts);
  if (problem) return html`<${Refused} problem=${problem} onRetry=${() => setTries(tries + 1)} />`;
  if (value === null) return loading && html`<p class="soft" aria-busy="true">${t("loading")}</p>`;
  return html`<div aria-busy=${String(loading)}>${children(value)}</div>`;
}

/** A failure; where a key is not valid or says too little, with the way to another one. */
export function Refused({ problem, onRetry }) {
  const { view, params } = useAddress();
  const t = useTexts(texts);
  const hasKey = problem.type !== "/problems/key-required";
  if (!hasKey || ![401, 403].includes(problem.status)) {
    return html`<${Failure} problem=${problem} onRetry=${onRetry} />`;
  }
  return html`<div class="failure" role="alert"><strong>${problem.detail || problem.title}</strong>
    <p>${problem.hint} <${Link} view="sign-in" params=${{ ...params, to: view }}>
      ${t("otherKey")}<//></p>
  </div>`;
}

/** What the caller may not do, who may, and the command that makes such a key. */
export function Needs({ role, allowsWrites = true }) {
  const { view, params } = useAddress();
  const t = useTexts(texts);
  const command = `pgrag keys create NAME --role ${role} --libraries '*'`;
  return html`<div class="needs">
    <p>${t(`needs_${role}`)} <${Link} view="sign-in" params=${{ ...params, to: view }}>
      ${t("haveKey")}<//></p>
    <p>${t("makeKey")} <code>${command}</code> <${Copy} text=${command} /></p>
    ${!allowsWrites && html`<p>${t("orWrites")} <code>pgrag serve --allow-writes</code></p>`}
  </div>`;
}

/**
 * A table. `columns`: `[[header, cell(row), isNumber], …]`; a cell may be anything that is drawn.
 * The first column names its row. Wide tables scroll by themselves, also by keyboard.
 */
export function Table({ caption, columns, rows, nothing, keyOf = (row, n) => n }) {
  if (!rows.length && nothing) return html`<p class="soft">${nothing}</p>`;
  return html`<div class="wide" tabindex="0" role="region" aria-label=${caption}>
    <table class="list"><thead><tr>${columns.map(([header, , isNumber]) =>
      html`<th scope="col" class=${isNumber ? "n" : ""}>${header}</th>`)}</tr></thead>
    <tbody>${rows.map((row, n) => html`<tr key=${keyOf(row, n)}>
      ${columns.map(([, cell, isNumber]) => html`
        <td class=${isNumber ? "n" : ""}>${cell(row)}</td>`)}
    </tr>`)}</tbody></table></div>`;
}

/**
 * Rows that come page by page: `load(after, signal)` gives `{rows, next}`; the child draws all rows
 * so far, and a button loads more.
 */
export function Paged({ load, inputs = [], children }) {
  const t = useTexts(texts);
  const [more, setMore] = useState({ inputs: null, rows: [], next: null });
  const [state, setState] = useState({});
  const key = JSON.stringify(inputs);
  const current = useRef(key);
  current.current = key;
  async function follow(next, before) {
    setState({ loading: true });
    try {
      const page = await load(next);
      if (current.current !== key) return;
      setMore({ inputs: key, rows: [...before, ...page.rows], next: page.next });
      setState({});
    } catch (problem) {
      setState({ problem });
    }
  }
  return html`<${Part} load=${(signal) => load(null, signal)} inputs=${inputs}>${(first) => {
    const isMore = more.inputs === key;
    const rows = isMore ? more.rows : first.rows;
    const next = isMore ? more.next : first.next;
    return html`${children(rows)}
      ${state.problem && html`<${Refused} problem=${state.problem} />`}
      ${next && html`<p><button class="button" disabled=${state.loading}
        onClick=${() => follow(next, rows)}>${t("more")}</button></p>`}`;
  }}<//>`;
}

/** Values as lines of CSV, with a quoted text wherever a table program would misread it. */
export function csv(header, rows) {
  // A text that begins like a formula is one to table programs.
  const cell = (value) => {
    const text = String(value ?? "").replace(/^([=+\-@\t\r])/, "'$1");
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [header, ...rows].map((row) => row.map(cell).join(",")).join("\n");
}
