// A page of the documentation as the service has rendered and sanitised it: the only HTML that the
// page takes as a string. Browsers with Trusted Types allow it through this policy alone.

import { html, useLayoutEffect, useRef } from "./html.mjs";

const policy = globalThis.trustedTypes?.createPolicy("pgrag", { createHTML: (text) => text });

/** Show HTML of `GET /v1/pages/{page_id}/rendered`; `onShown(element)` is called with it. */
export function Rendered({ source, onShown, ...others }) {
  const element = useRef();
  useLayoutEffect(() => {
    element.current.innerHTML = policy ? policy.createHTML(source) : source;
    onShown?.(element.current);
  }, [source]);
  return html`<div ...${others} ref=${element}></div>`;
}
