// Grades of the results of one query, kept as judgements of a set.

import { get, put, useLoaded } from "../core/api.mjs";
import { useState } from "../core/html.mjs";

const address = (set) => `v1/evaluations/${encodeURIComponent(set)}/judgements`;

/** What a set judges of a hit. */
export function targetOf(unit, hit) {
  if (unit === "document") return hit.chunk_key;
  return unit === "section" && hit.anchor ? `${hit.key}#${hit.anchor}` : hit.key;
}

/**
 * The grades of a query in a set: `grades` by target, the `unit` of the set, and `grade(hit, n)`,
 * which shows a grade at once and takes it back if the service does not accept it.
 */
export function useGrades({ set, q, library, wish, may }) {
  const [own, setOwn] = useState({});
  const [failed, fail] = useState(null);
  const [tries, retry] = useState(0);
  const { value: stored, problem } = useLoaded(async (signal) => {
    if (!may) return null;
    const { sets } = await get("v1/evaluations", {}, signal);
    // A set that nobody has begun has no grades.
    const isThere = q && sets.some((each) => each.name === set?.toLowerCase());
    return { set, sets, ...(isThere && (await get(address(set), { query: q }, signal))) };
  }, [set, q, may, tries]);
  const known = stored?.unit && stored.set === set?.toLowerCase() ? stored : null;
  const unit = known?.unit ?? wish;
  const mine = own[JSON.stringify([set, q])] ?? {};
  const grades = {};
  for (const one of known?.judgements ?? []) grades[one.target] = one.grade;
  Object.assign(grades, mine);
  for (const [target, grade] of Object.entries(grades)) if (grade === null) delete grades[target];

  async function grade(name, hit, next) {
    const target = targetOf(unit, hit);
    const keep = (value) => setOwn((before) => {
      const key = JSON.stringify([name, q]);
      return { ...before, [key]: { ...before[key], [target]: value } };
    });
    const before = grades[target] ?? null;
    keep(next);
    fail(null);
    try {
      await put(address(name), {
        library: library || hit.library, query: q, target, grade: next, unit,
      });
    } catch (fault) {
      keep(before);
      fail(fault);
      throw fault;
    }
  }
  return {
    grades, unit, isNew: !known, sets: stored?.sets ?? [], grade, problem: failed ?? problem,
    retry: problem && (() => retry(tries + 1)),
  };
}
