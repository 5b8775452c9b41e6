// How operations write durations and shares that may be unknown.

import { useFormats } from "../core/texts.mjs";

export function useShown() {
  const format = useFormats();
  const known = (write) => (value) => (value === null || value === undefined ? "–" : write(value));
  return {
    ms: known((value) => (value < 10000 ? `${format.number(value, value < 10 ? 1 : 0)} ms`
      : `${format.number(value / 1000, 1)} s`)),
    share: known((value) => format.percent(value, 1)),
    number: known((value) => format.number(value, Number.isInteger(value) ? 0 : 1)),
    whole: known((value) => format.number(value)),
    rating: known((value) => format.number(value, 1)),
    metric: known((value) => format.number(value, 3)),
  };
}
