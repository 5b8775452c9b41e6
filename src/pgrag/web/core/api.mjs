// Requests to the service: the public REST routes, nothing else.

import { useEffect, useState } from "./html.mjs";
import { base } from "./address.mjs";
import { store } from "./store.mjs";

// The key of who signed in. It lives as long as this page, and is stored nowhere.
let key = null;

/** What `GET /v1/service` says: who calls, what they may do, what is set up; null: unknown. */
export const service = store(null);

/** A failure, in the words of the service (RFC 9457), or of the page if it did not answer. */
export class Problem extends Error {
  constructor({ status = 0, type = "", title = "", detail = "", hint = "", errors }, retryAfter) {
    super(detail || title);
    Object.assign(this, { status, type, title, detail, hint, errors, retryAfter });
  }
}

/** Sign in with a key, or out with null; rejects with the service's problem if it is not valid. */
export async function signIn(next) {
  const before = key;
  key = next;
  try {
    service.set(await get("v1/service"));
  } catch (problem) {
    key = before;
    throw problem;
  }
}

function addressOf(path, params = {}) {
  const address = new URL(path, base);
  for (const [name, value] of Object.entries(params)) {
    if (value === null || value === undefined || value === "") continue;
    const is_plain = typeof value !== "object";
    const text = is_plain ? value : Array.isArray(value) ? value.join(",") : JSON.stringify(value);
    address.searchParams.set(name, text);
  }
  return address;
}

/** Send a request; the answer has a status below 400, else this rejects with a `Problem`. */
export async function send(method, path, { params, body, signal, headers = {} } = {}) {
  const given = { ...headers };
  if (key) given.Authorization = `Bearer ${key}`;
  const is_json = body !== undefined && !(body instanceof Blob);
  if (is_json) given["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch(addressOf(path, params), {
      method, signal, headers: given, body: is_json ? JSON.stringify(body) : body,
      cache: "no-store", credentials: "same-origin", redirect: "error",
    });
  } catch (fault) {
    if (fault.name === "AbortError") throw fault;
    throw new Problem({ type: "unreachable" });
  }
  if (answer.ok) return answer;
  const told = await answer.json().catch(() => ({ title: answer.statusText }));
  throw new Problem({ ...told, status: answer.status }, Number(answer.headers.get("Retry-After")));
}

const json = async (method, path, options) => {
  const answer = await send(method, path, options);
  return answer.status === 204 ? null : answer.json();
};
export const get = (path, params, signal) => json("GET", path, { params, signal });
export const post = (path, body, signal) => json("POST", path, { body, signal });
export const put = (path, body, signal) => json("PUT", path, { body, signal });
export const remove = (path, params) => json("DELETE", path, { params });

/** Send a form with files, and tell `onProgress` which share is sent, which fetch cannot say. */
export function upload(path, { params, form, onProgress, signal }) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", addressOf(path, params));
    if (key) request.setRequestHeader("Authorization", `Bearer ${key}`);
    request.responseType = "json";
    request.upload.onprogress = ({ loaded, total }) => onProgress(total ? loaded / total : 0);
    request.onload = () => {
      const { status, statusText, response } = request;
      if (status < 400) return resolve(response);
      const wait = Number(request.getResponseHeader("Retry-After"));
      return reject(new Problem({ title: statusText, ...response, status }, wait));
    };
    request.onerror = () => reject(new Problem({ type: "unreachable" }));
    request.onabort = () => reject(new DOMException("", "AbortError"));
    signal?.addEventListener("abort", () => request.abort());
    request.send(form);
  });
}

/** The server-sent events of an answer, one after the other, as `{event, data}`; data is JSON. */
export async function* events(method, path, options = {}) {
  const headers = { Accept: "text/event-stream" };
  const answer = await send(method, path, { ...options, headers });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      text += value.replaceAll("\r\n", "\n");
      for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
        const found = eventOf(text.slice(0, end));
        if (found) yield found;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function eventOf(lines) {
  let event = "message";
  const data = [];
  for (const line of lines.split("\n")) {
    if (line.startsWith("event:")) event = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  return data.length ? { event, data: JSON.parse(data.join("\n")) } : null;
}

/**
 * What `load(signal)` gives, as `{value, problem, loading}`; loaded again when the inputs change.
 * A request that another one follows is aborted and its answer never shows: `value` is that of the
 * latest inputs, or, while they load, of those before. A load that gives null asks for nothing.
 */
export function useLoaded(load, inputs) {
  const [state, set] = useState({ value: null, problem: null, of: null });
  useEffect(() => {
    const abort = new AbortController();
    const show = (next) => abort.signal.aborted || set({ ...next, of: inputs });
    Promise.resolve(load(abort.signal)).then(
      (value) => show({ value, problem: null }),
      (problem) => show({ value: null, problem }),
    );
    return () => abort.abort();
  }, inputs);
  // Seen in the drawing that has the new inputs, not in the next one: between them a view would
  // show for a frame that there is nothing.
  const loading = !state.of || inputs.some((each, nth) => !Object.is(each, state.of[nth]));
  return { value: state.value, problem: state.problem, loading };
}
