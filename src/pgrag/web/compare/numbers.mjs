// How alike two lists of hits are, and what a list is worth by its grades.

const sectionOf = (hit) => JSON.stringify([hit.library, hit.key, hit.path, hit.heading]);

/**
 * Which hits of two lists are the same: `[{left, right}]`, places from 0, null where a list lacks
 * it. The same passage; else the same section of the same page, as another version has it, first
 * those with the same text.
 */
export function paired(left, right) {
  const names = [
    (hit) => hit.document_id,
    (hit) => sectionOf(hit) + hit.content,
    sectionOf,
  ];
  const partner = new Array(left.length).fill(null);
  const isTaken = new Array(right.length).fill(false);
  for (const name of names) {
    left.forEach((hit, place) => {
      if (partner[place] !== null) return;
      const found = right.findIndex((other, n) => !isTaken[n] && name(other) === name(hit));
      if (found < 0) return;
      partner[place] = found;
      isTaken[found] = true;
    });
  }
  return [
    ...partner.map((place, n) => ({ left: n, right: place })),
    ...right.map((_, n) => ({ left: null, right: n })).filter(({ right: n }) => !isTaken[n]),
  ];
}

/** The share of all hits that both lists have; null for two empty lists. */
export function jaccard(pairs) {
  const common = pairs.filter(({ left, right }) => left !== null && right !== null).length;
  return pairs.length > 0 ? common / pairs.length : null;
}

/**
 * Rank-biased overlap, extrapolated: Webber, Moffat and Zobel, "A similarity measure for indefinite
 * rankings", ACM TOIS 28 (4), 2010, equation 32. With s and l the lengths of the shorter and the
 * longer list and X(d) the number of hits that both have in their first d places:
 *
 *   (1 - p) / p · ( Σ d=1..l X(d) / d · p^d  +  Σ d=s+1..l X(s) · (d - s) / (s · d) · p^d )
 *     +  ( (X(l) - X(s)) / l  +  X(s) / s ) · p^l
 *
 * 1 for equal lists, 0 for lists without a common hit; the first places weigh most: with p = 0.9
 * the first ten have 86 % of the weight. Null if a list is empty.
 */
export function overlap(pairs, p = 0.9) {
  const length = (side) => pairs.filter((pair) => pair[side] !== null).length;
  const lengths = [length("left"), length("right")];
  const [s, l] = [Math.min(...lengths), Math.max(...lengths)];
  if (s === 0) return l === 0 ? null : 0;
  const both = pairs.filter(({ left, right }) => left !== null && right !== null)
    .map(({ left, right }) => Math.max(left, right) + 1);
  const common = (depth) => both.filter((place) => place <= depth).length;
  let sum = 0;
  for (let d = 1; d <= l; d++) {
    sum += (common(d) / d) * p ** d;
    if (d > s) sum += ((common(s) * (d - s)) / (s * d)) * p ** d;
  }
  return ((1 - p) / p) * sum + ((common(l) - common(s)) / l + common(s) / s) * p ** l;
}

/** nDCG@k as docs/evaluation.md has it: gains grade / log₂(rank + 1), by that of the best order. */
export function ndcg(grades, judged, k = 10) {
  const gain = (list) =>
    list.slice(0, k).reduce((sum, grade, n) => sum + grade / Math.log2(n + 2), 0);
  const best = gain([...judged].sort((one, other) => other - one));
  return best > 0 ? gain(grades) / best : 0;
}
