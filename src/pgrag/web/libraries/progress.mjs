// How far jobs are: followed by events, or asked for from time to time.

import { events, get } from "../core/api.mjs";
import { html, useEffect, useRef, useState } from "../core/html.mjs";
import { useFormats, useTexts } from "../core/texts.mjs";
import { texts } from "./texts.mjs";

const LOOK_MS = 2000;
export const ENDED = ["succeeded", "failed", "cancelled"];

/** Whether the caller may see jobs: their sources tell of folders of the server. */
export const seesJobs = (known) => Boolean(known && (known.may.index || known.may.observe));

/** The jobs that run, and how many have ended since the view is open. */
export function useRunning(known) {
  const [state, setState] = useState({ jobs: [], ended: 0 });
  const sees = seesJobs(known);
  useEffect(() => {
    if (!sees) return undefined;
    const abort = new AbortController();
    let timer;
    async function look() {
      const { jobs } = await get("v1/jobs", { state: "running" }, abort.signal)
        .catch(() => ({ jobs: [] }));
      if (abort.signal.aborted) return;
      setState((before) => {
        const gone = before.jobs.filter((old) => !jobs.some((job) => job.job_id === old.job_id));
        return !jobs.length && !gone.length ? before : { jobs, ended: before.ended + gone.length };
      });
      timer = setTimeout(look, jobs.length ? LOOK_MS : 5 * LOOK_MS);
    }
    look();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [sees]);
  return state;
}

/** A job as it changes, until it has ended: `{job, problem}`. */
export function useJob(id, again) {
  const [state, setState] = useState({ job: null, problem: null });
  useEffect(() => {
    const abort = new AbortController();
    const { signal } = abort;
    const path = `v1/jobs/${encodeURIComponent(id)}`;
    async function follow() {
      while (!signal.aborted) {
        try {
          setState({ job: await get(path, {}, signal), problem: null });
          for await (const { data } of events("GET", `${path}/events`, { signal })) {
            setState({ job: data, problem: null });
            if (ENDED.includes(data.state)) return;
          }
        } catch (problem) {
          if (signal.aborted) return;
          setState((before) => ({ ...before, problem }));
          if (problem.status >= 400 && problem.status < 500 && problem.status !== 429) return;
        }
        // The stream broke off: the job goes on without it.
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      }
    }
    follow();
    return () => abort.abort();
  }, [id, again]);
  return state;
}

/**
 * Seconds that a job will still take, by how fast it went while it was looked at; null: not known.
 * Its first pages may be unchanged ones, which take no time, so the last part counts.
 */
function useRemaining({ job_id, attempts, progress }) {
  const seen = useRef({ of: "", points: [] });
  const attempt = `${job_id} ${attempts}`;
  if (seen.current.of !== attempt) seen.current = { of: attempt, points: [] };
  const { points } = seen.current;
  if (progress && progress.done !== points.at(-1)?.done) {
    points.push({ at: performance.now(), done: progress.done });
    if (points.length > 10) points.shift();
  }
  const [first, last] = [points[0], points.at(-1)];
  if (!progress || points.length < 2 || last.done <= first.done) return null;
  const pace = (last.at - first.at) / (last.done - first.done);
  return (pace * (progress.total - progress.done)) / 1000;
}

/** A bar with the share that is done, and the time that remains. */
export function Progress({ job }) {
  const t = useTexts(texts);
  const format = useFormats();
  const seconds = useRemaining(job);
  const { progress } = job;
  if (!progress?.total) {
    return html`<span class="run"><progress aria-label=${t("progress")}></progress>
      ${" "}${t("begins")}</span>`;
  }
  const left = seconds !== null && `, ${t("left", { time: lasting(seconds, format.language) })}`;
  return html`<span class="run"><progress aria-label=${t("progress")} max=${progress.total}
    value=${progress.done}></progress> ${format.percent(progress.done / progress.total)}
    ${left}</span>`;
}

/** Seconds as people say them: 40 s, 12 min, 3 h. */
function lasting(seconds, language) {
  const units = [["second", 1, 90], ["minute", 60, 5400], ["hour", 3600, Infinity]];
  const [unit, size] = units.find(([, , below]) => seconds < below);
  const value = Math.max(1, Math.round(seconds / size));
  return value.toLocaleString(language, { style: "unit", unit, unitDisplay: "short" });
}
