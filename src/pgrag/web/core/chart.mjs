// Lines over time, drawn by uPlot, which is loaded with the first chart. The table beside a chart
// says the same in words: the drawing itself is hidden from readers who do not see it.

import { html, useEffect, useRef, useState } from "./html.mjs";
import { styled } from "./styles.mjs";
import { useFormats, useTexts } from "./texts.mjs";
import { texts } from "./texts.tables.mjs";

const HEIGHT = 220;
const DAY = 86400;
/** Steps between the marks below days: none is shorter than a day. */
const STEPS = [1, 2, 3, 7, 14, 28, 56, 91, 182, 364].map((days) => days * DAY);
const COLOURS = ["words", "meaning", "page", "links", "other"];

let loaded;

function uplot() {
  loaded ??= Promise.all([
    import("../vendor/uplot.mjs"), styled(new URL("../vendor/uplot.css", import.meta.url).href),
  ]).then(([module]) => module.default);
  // What could not be loaded is tried again by the next chart.
  loaded.catch(() => (loaded = undefined));
  return loaded;
}

/** A colour of the page as the canvas takes it: `light-dark()` is settled by the browser. */
function colour(element, name) {
  element.style.color = `var(--${name})`;
  const found = getComputedStyle(element).color;
  element.style.color = "";
  return found;
}

/** Counts how often the look has changed, so that what is drawn by colour is drawn anew. */
function useLook() {
  const [look, setLook] = useState(0);
  useEffect(() => {
    const changed = () => setLook((before) => before + 1);
    const watch = new MutationObserver(changed);
    watch.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", changed);
    return () => {
      watch.disconnect();
      dark.removeEventListener("change", changed);
    };
  }, []);
  return look;
}

/**
 * `times` in milliseconds, ascending, and `lines`: `[[name, values, {axis, unit}], …]`. Lines of
 * the axis "right" have a scale of their own. `areDays`: the times are days, each by its
 * midnight in UTC, which is the same day for readers everywhere.
 */
export function Chart({ times, lines, areDays = false }) {
  const t = useTexts(texts);
  const { language } = useFormats();
  const [isShown, setShown] = useState(false);
  const place = useRef();
  const look = useLook();
  useEffect(() => {
    let chart;
    let watch;
    let isGone = false;
    uplot().then((UPlot) => {
      if (isGone) return;
      const element = place.current;
      chart = new UPlot(
        optionsOf(element, times, lines, { areDays, language, day: t("day") }),
        dataOf(times, lines), element,
      );
      const fit = () => chart.setSize({ width: element.clientWidth, height: HEIGHT });
      watch = new ResizeObserver(fit);
      watch.observe(element);
      setShown(true);
    }, () => {});
    return () => {
      isGone = true;
      watch?.disconnect();
      chart?.destroy();
    };
  }, [JSON.stringify([times, lines]), language, look]);
  return html`<div class="chart" aria-hidden="true"><div ref=${place}></div>
    ${!isShown && html`<p class="soft">${t("chartLoads")}</p>`}</div>`;
}

/** A date whose local day and hour are those that UTC has at this moment. */
function dayIn(seconds) {
  const local = new Date(seconds * 1000);
  return new Date(local.getTime() + local.getTimezoneOffset() * 60000);
}

const dataOf = (times, lines) =>
  [times.map((each) => each / 1000), ...lines.map(([, values]) => values)];

function optionsOf(element, times, lines, { areDays, language, day: dayName }) {
  const ink = colour(element, "soft");
  const line = colour(element, "line");
  const number = (value) => value.toLocaleString(language, { maximumFractionDigits: 3 });
  const zone = areDays ? { timeZone: "UTC" } : {};
  const moment = (seconds, options) =>
    new Date(seconds * 1000).toLocaleString(language, { ...options, ...zone });
  const day = (seconds) => moment(seconds, { day: "numeric", month: "short" });
  const time = (seconds) => moment(seconds, { hour: "numeric", minute: "2-digit" });
  const [first, last] = [times[0] / 1000, times.at(-1) / 1000];
  // A single moment still needs something around it.
  const span = first === last ? [first - DAY, last + DAY] : [first, last];
  // Steps of the axis that are shorter than a day are moments of it.
  const ofAxis = (_, splits, __, ___, step) => splits.map(step < DAY ? time : day);
  const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  const scaleOf = (options) => (options?.axis === "right" ? "right" : "y");
  const units = (scale) =>
    lines.find(([, , options]) => scaleOf(options) === scale)?.[2]?.unit ?? "";
  const values = (scale) => (_, splits) => splits.map((each) => number(each) + units(scale));
  const hasRight = lines.some(([, , options]) => options?.axis === "right");
  const right = {
    ...axis, scale: "right", side: 1, grid: { show: false }, values: values("right"), size: 70,
  };
  const known = (write) => (_, value) =>
    value === null || value === undefined ? "–" : write(value);
  return {
    width: element.clientWidth, height: HEIGHT, cursor: { drag: { x: false } },
    // Marks stand where days begin, in the same zone as the days.
    ...(areDays && { tzDate: dayIn }),
    scales: {
      x: { range: () => span },
      y: { range: (_, low, high) => [Math.min(0, low ?? 0), high || 1] },
      right: { range: (_, low, high) => [0, high || 1] },
    },
    axes: [
      { ...axis, values: ofAxis, space: 70, ...(areDays && { incrs: STEPS }) },
      { ...axis, scale: "y", values: values("y"), size: 60 },
      ...(hasRight ? [right] : []),
    ],
    series: [
      { value: known(day), label: dayName },
      ...lines.map(([label, , options], n) => ({
        label, scale: scaleOf(options), width: 2, spanGaps: true, points: { show: true, size: 5 },
        stroke: colour(element, COLOURS[n % COLOURS.length]),
        value: known((value) => number(value) + (options?.unit ?? "")),
      })),
    ],
  };
}
