// What went wrong, in the reader's words, and the way out: the key of a text, or none to try again.

/** `{text, canRetry, isVersion}` of a problem. */
export function saying(problem, words) {
  const { kind, status, wait } = problem;
  const retry = (text) => ({ text, canRetry: true });
  if (kind === "unreachable") return retry(words.unreachable);
  if (kind === "key-required") return { text: words.noKey };
  if (kind === "invalid-key") return { text: words.key };
  if (status === 403) return { text: words.origin };
  if (kind === "unknown-library") return { text: words.library };
  if (kind === "unknown-version") return { text: words.noVersion, isVersion: true };
  if (status === 429) return retry(words.busy(wait));
  // What the service cannot read in the reader's words, it says itself.
  if (status === 422 && problem.message) return { text: problem.message };
  return retry(words.down);
}
