// Requests to the JSON API. The token is kept for this tab only, and only ever sent as a header.

import { parseJson } from "./text.js";

const KEY = "groundstate.token";

/** What the server refused, or that it did not answer. */
export class Problem extends Error {
  constructor(status, title, detail, type) {
    super(detail || title);
    this.status = status;
    this.title = title;
    this.type = type;
  }
}

export const session = {
  get token() {
    return sessionStorage.getItem(KEY);
  },
  signIn(token) {
    sessionStorage.setItem(KEY, token);
  },
  signOut() {
    sessionStorage.removeItem(KEY);
  },
};

let unauthenticated = () => {};

/** Says what to do when the server does not accept the token, or wants one. It gets the problem, and whether there was a token. */
export function onUnauthenticated(act) {
  unauthenticated = act;
}

/** Sends a request. `query` may have members without a value, which are left out. */
async function send(path, { query = {}, method = "GET", body, signal } = {}) {
  const url = new URL(path, location.origin);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") url.searchParams.set(name, value);
  }
  const headers = {};
  const token = session.token;
  if (token) headers.authorization = `Bearer ${token}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  let response;
  try {
    // Without credentials of the browser: no dialog of the browser asks for a password, and no other site can lend any.
    response = await fetch(url, { method, headers, signal, body: body && JSON.stringify(body), credentials: "omit", cache: "no-store", redirect: "error" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, "the server does not answer", "check the connection, and try again", "");
  }
  if (response.ok) return response;
  const problem = await problemOf(response);
  // A late answer to an earlier token says nothing of the present one.
  if (problem.status === 401 && token === session.token && !signal?.aborted) {
    session.signOut();
    unauthenticated(problem, token !== null);
  }
  throw problem;
}

async function problemOf(response) {
  const text = await response.text();
  try {
    // The protocol of Pulumi has one text for all.
    const { title, detail, type, message } = JSON.parse(text);
    return new Problem(response.status, title ?? message, detail, type);
  } catch {
    return new Problem(response.status, `the server answered with status ${response.status}`, "", "");
  }
}

export async function get(path, query, signal) {
  const response = await send(path, { query, signal });
  return parseJson(await response.text());
}

export async function post(path, body) {
  const response = await send(path, { method: "POST", body });
  const text = await response.text();
  return text ? parseJson(text) : null;
}

/** A picture as an object that the page can show; it has to be revoked. */
export async function picture(path, query, signal) {
  const response = await send(path, { query, signal });
  return URL.createObjectURL(new Blob([await response.text()], { type: "image/svg+xml" }));
}

/** The path of a state in the API. */
export function statePath({ project, state, workspace }) {
  return `/api/v1/states/${[project, state, workspace].map(encodeURIComponent).join("/")}`;
}

/** The path of a stack in the protocol of Pulumi. */
export function stackPath({ owner, project, stack }) {
  return `/api/stacks/${[owner, project, stack].map(encodeURIComponent).join("/")}`;
}
