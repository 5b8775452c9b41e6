// The pages around a page, at most sixty, as a drawing and as a list.

import { get } from "../core/api.mjs";
import { Link, go } from "../core/address.mjs";
import { html, useEffect, useState } from "../core/html.mjs";
import { Heading, Part, Table } from "../core/tables.mjs";
import { useTexts } from "../core/texts.mjs";
import { PageName } from "./pages.mjs";
import { texts } from "./texts.mjs";

/** Pages around the one in the middle: more are no longer a drawing that can be read. */
const MOST = 59;
const WIDTH = 1000;
/** Few pages need less room, and are drawn further apart. */
const FEW = 12;
const heightOf = (count) => (count > FEW ? 560 : 300);
const DEPTHS = ["1", "2", "3"];

export function Graph({ params }) {
  const t = useTexts(texts);
  const { graph } = params;
  const depth = DEPTHS.includes(params.depth) ? params.depth : "2";
  const path = `v1/pages/${encodeURIComponent(graph)}`;
  const load = async (signal) => {
    const [page, { neighbourhood }] = await Promise.all([
      get(path, {}, signal),
      get(`${path}/neighbourhood`, { depth, total: MOST, fan_out: 20 }, signal),
    ]);
    return { page, neighbours: neighbourhood, edges: edgesOf(neighbourhood) };
  };
  const set = (event) => go("libraries", { graph, depth: event.target.value }, { replace: true });
  const inputs = [graph, depth];
  return html`<${Part} load=${load} inputs=${inputs}>${({ page, neighbours, edges }) => html`
    <${Heading} key=${page.page_id}>${t("aroundPage", { title: page.title || page.key })}<//>
    <p class="soft">${neighbours.length > 0 && t("graphCount", { n: neighbours.length })}
      ${neighbours.length >= MOST && ` ${t("graphMost")}`}
      ${" "}<${Link} view="search" params=${{ page: page.page_id }}>${t("readPage")}<//></p>
    <div class="filters"><label>${t("steps")} <select value=${depth} onChange=${set}>
      ${DEPTHS.map((each) => html`<option>${each}</option>`)}</select></label></div>
    ${neighbours.length > 0 && html`<${Drawing} key=${`${page.page_id} ${depth}`} page=${page}
      neighbours=${neighbours} edges=${edges} depth=${depth} />`}
    <${List} neighbours=${neighbours} depth=${depth} />`}<//>`;
}

const edgesOf = (neighbours) => neighbours.map((each) => {
  const ends = [each.via_page_id, each.page_id];
  return { ends: each.forward ? ends : ends.reverse(), kind: each.kind };
});

/** Places of all pages; drawn again at each step of the layout, until it has settled. */
function useLayout(ids, edges) {
  const [places, setPlaces] = useState(null);
  useEffect(() => {
    let simulation;
    let isGone = false;
    import("../vendor/d3-force.mjs").then((force) => {
      if (isGone) return;
      const height = heightOf(ids.length);
      const nodes = ids.map((id, n) => ({ id, ...startOf(n, height) }));
      const links = edges.map(({ ends: [source, target] }) => ({ source, target }));
      const show = () => setPlaces(new Map(nodes.map((each) => [each.id, within(each, height)])));
      simulation = force.forceSimulation(nodes)
        .force("link", force.forceLink(links)
          .id((each) => each.id).distance(ids.length > FEW ? 80 : 130))
        .force("charge", force.forceManyBody().strength(-260))
        .force("x", force.forceX(WIDTH / 2).strength(0.04))
        .force("y", force.forceY(height / 2).strength(0.09))
        .force("apart", force.forceCollide(26));
      if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
        simulation.stop().tick(300);
        show();
      } else {
        simulation.alphaDecay(0.05).on("tick", show);
      }
    });
    return () => {
      isGone = true;
      simulation?.stop();
    };
  }, []);
  return places;
}

/** The page itself stays in the middle; the others begin in a spiral around it. */
function startOf(n, height) {
  const [x, y] = [WIDTH / 2, height / 2];
  if (!n) return { fx: x, fy: y };
  const distance = 50 * Math.sqrt(n);
  return { x: x + distance * Math.cos(2.4 * n), y: y + distance * Math.sin(2.4 * n) };
}

const within = ({ x, y }, height) => ({
  x: Math.min(WIDTH - 70, Math.max(70, x)), y: Math.min(height - 26, Math.max(24, y)),
});

function Drawing({ page, neighbours, edges, depth }) {
  const t = useTexts(texts);
  const { page_id, title, key } = page;
  const nodes = [{ page_id, title, key, depth: 0 }, ...neighbours];
  const places = useLayout(nodes.map((each) => each.page_id), edges);
  if (!places) return html`<p class="soft" aria-busy="true">${t("loading")}</p>`;
  const box = `0 0 ${WIDTH} ${heightOf(nodes.length)}`;
  return html`<div class="graph wide"><svg viewBox=${box} role="group"
    aria-label=${t("graphLabel", { title: page.title || page.key })}>
    <defs><marker id="arrow" viewBox="0 0 8 8" refX="14" refY="4" markerWidth="8" markerHeight="8"
      orient="auto"><path d="M0 1 L8 4 L0 7" /></marker></defs>
    ${edges.map(({ ends: [source, target] }) => {
      const [from, to] = [places.get(source), places.get(target)];
      return from && to && html`<line x1=${from.x} y1=${from.y} x2=${to.x} y2=${to.y}
        marker-end="url(#arrow)" />`;
    })}
    ${nodes.map((each) => html`<${Node} key=${each.page_id} node=${each}
      place=${places.get(each.page_id)} depth=${depth} />`)}
  </svg></div>`;
}

function Node({ node, place, depth }) {
  const name = node.title || node.key;
  const shown = name.length > 26 ? `${name.slice(0, 25)}…` : name;
  const drawn = html`<title>${name}</title>
    <circle r=${[11, 7, 5, 4][node.depth] ?? 4} />
    <text y=${node.depth ? 18 : -16}>${shown}</text>`;
  const at = `translate(${place.x.toFixed(1)} ${place.y.toFixed(1)})`;
  if (!node.depth) return html`<g class="middle" transform=${at}>${drawn}</g>`;
  return html`<g transform=${at}><${Link} view="libraries"
    params=${{ graph: node.page_id, depth }} aria-label=${name}>${drawn}<//></g>`;
}

function List({ neighbours, depth }) {
  const t = useTexts(texts);
  const columns = [
    [t("page"), (row) => html`<${PageName} page=${row} />`],
    [t("connected"), (row) => html`${t(row.forward ? "linkedFrom" : "linksTo")} ${row.via_page}
      <small class="key">${row.kind}${row.edge_count > 1 ? ` × ${row.edge_count}` : ""}</small>`],
    [t("steps"), (row) => row.depth, true],
    [t("around"), (row) => html`<${Link} view="libraries" params=${{ graph: row.page_id, depth }}
      aria-label=${t("graphOf", { title: row.title || row.key })}>${t("graph")}<//>`],
  ];
  return html`<${Table} caption=${t("graphList")} columns=${columns} rows=${neighbours}
    nothing=${t("noNeighbour")} keyOf=${(row) => row.page_id} />`;
}
