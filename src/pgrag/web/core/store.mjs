// A value that several parts of the page show: who reads it is drawn anew when it changes.

import { useEffect, useState } from "./html.mjs";

export function store(value) {
  const readers = new Set();
  return {
    get: () => value,
    set(next) {
      value = next;
      for (const reader of [...readers]) reader(next);
    },
    listen(reader) {
      readers.add(reader);
      return () => readers.delete(reader);
    },
  };
}

export function useStore(held) {
  const [value, set] = useState(held.get());
  useEffect(() => {
    // It may have changed between drawing and listening.
    set(held.get());
    return held.listen((next) => set(() => next));
  }, [held]);
  return value;
}
