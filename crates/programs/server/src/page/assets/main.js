// Which page is shown, and who is signed in.

import { Problem, onUnauthenticated, session } from "./api.js";
import { problemText } from "./dialogs.js";
import { announce, h } from "./dom.js";
import { diffView, versionsView } from "./history.js";
import { eventsView } from "./events.js";
import { journalView } from "./journal.js";
import { resourceView, resourcesView } from "./resources.js";
import { stackOutputsView, stackView } from "./stack.js";
import { stackFrame, stacksView } from "./stacks.js";
import { frame, graphView, outputsView, overviewView } from "./state.js";
import { locksView, projectsView, statesView } from "./states.js";
import { stackResourcesView } from "./tree.js";
import { updatesView } from "./updates.js";

const VIEWS = { "": statesView, projects: projectsView, stacks: stacksView, locks: locksView };
const STATE_VIEWS = { "": overviewView, resources: resourcesView, resource: resourceView, outputs: outputsView, versions: versionsView, diff: diffView, graph: graphView };
const STACK_VIEWS = { "": stackView, resources: stackResourcesView, outputs: stackOutputsView, updates: updatesView, events: eventsView, journal: journalView };
/** The tabs of pages that have none of their own. */
const TABS = { resource: "resources", diff: "versions", events: "updates" };
/** What has pages of its own, by a name of three parts. */
const THINGS = {
  states: { views: STATE_VIEWS, frame, member: "state", named: (project, state, workspace) => ({ project, state, workspace }) },
  stacks: { views: STACK_VIEWS, frame: stackFrame, member: "stack", named: (owner, project, stack) => ({ owner, project, stack }) },
};

const main = document.getElementById("main");
const button = document.getElementById("session");
let current = new AbortController();

/** What the address says: the view, its state or stack, its query. None if it says nothing that is known. */
function route() {
  const [path, query = ""] = location.hash.replace(/^#/, "").split("?", 2);
  let parts;
  try {
    parts = path.split("/").filter(Boolean).map(decodeURIComponent);
  } catch {
    return null;
  }
  const found = { query: new URLSearchParams(query), path };
  if (parts.length < 2 && Object.hasOwn(VIEWS, parts[0] ?? "")) return { ...found, view: VIEWS[parts[0] ?? ""] };
  const [first, ...name] = parts;
  const [tab = "", ...rest] = name.splice(3);
  const thing = Object.hasOwn(THINGS, first) && THINGS[first];
  if (!thing || name.length < 3 || rest.length > 0 || !Object.hasOwn(thing.views, tab)) return null;
  const named = thing.named(...name);
  const shownTab = TABS[tab] ?? tab;
  return { ...found, view: thing.views[tab], [thing.member]: named, around: (content) => thing.frame(named, shownTab, content) };
}

/** Shows the page of the address. */
async function show({ focus = true } = {}) {
  current.abort();
  current = new AbortController();
  const { signal } = current;
  closeDialogs();
  showSession();
  const found = route();
  if (!found) return put({ title: "Not found", content: [h("h1", { tabindex: "-1" }, "Not found"), h("p", {}, "There is no such page. ", h("a", { href: "#/" }, "States"))] }, focus);
  main.setAttribute("aria-busy", "true");
  const fail = (error) => {
    if (!signal.aborted) put(problemPage(error, found), true);
  };
  const setQuery = (members) => {
    const query = new URLSearchParams(Object.entries(members).filter(([, value]) => value !== ""));
    history.replaceState(null, "", `#${found.path}${query.size ? `?${query}` : ""}`);
  };
  try {
    const page = await found.view({ ...found, signal, setQuery, fail, navigate, reload: show });
    if (!signal.aborted) put(page, focus);
  } catch (error) {
    if (error.name !== "AbortError") fail(error);
  }
  return undefined;
}

function closeDialogs() {
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
}

function showSession() {
  button.hidden = false;
  button.textContent = session.token ? "Sign out" : "Sign in";
}

function navigate(address) {
  location.hash = address;
}

function put({ title, section, content }, focus) {
  document.title = `${title} · groundstate`;
  for (const link of document.querySelectorAll("[data-section]")) {
    if (link.dataset.section === section) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const nodes = content.flat(Infinity).filter(Boolean);
  main.replaceChildren(...nodes);
  main.removeAttribute("aria-busy");
  if (!focus) return;
  scrollTo(0, 0);
  (main.querySelector("[autofocus]") ?? main.querySelector("h1"))?.focus();
}

/** What went wrong. The other pages of a state or stack stay in reach: one that was deleted still has its versions. */
function problemPage(error, { around }) {
  if (!(error instanceof Problem)) console.error(error);
  const again = h("button", { type: "button", onclick: () => show() }, "Try again");
  const content = [h("p", { class: "problem", role: "alert" }, problemText(error)), h("p", { class: "tools" }, again, h("a", { href: "#/" }, "States"))];
  if (around) return around(content);
  return { title: "Problem", content: [h("h1", { tabindex: "-1" }, "That did not work"), content] };
}

/** The page that asks for a token, with what the server says of the one before. */
function signInPage(error) {
  const field = h("input", { id: "token", type: "password", required: true, autocomplete: "off", spellcheck: "false", autofocus: true, "aria-describedby": "token-note" });
  const wrong = error && h("p", { class: "problem", role: "alert" }, problemText(error));
  const submit = (event) => {
    event.preventDefault();
    const token = field.value.trim();
    field.setCustomValidity(/^[\x21-\x7e]+$/.test(token) ? "" : "a token has letters, digits and signs only");
    if (!event.target.reportValidity()) return;
    session.signIn(token);
    show();
  };
  field.addEventListener("input", () => field.setCustomValidity(""));
  return {
    title: "Sign in",
    content: [
      h("h1", { tabindex: "-1" }, "Sign in"),
      wrong,
      h(
        "form",
        { class: "sign-in", onsubmit: submit, novalidate: true },
        h("label", { for: "token" }, "Token"),
        field,
        h("p", { id: "token-note", class: "quiet" }, "It stays in this tab until the tab is closed or you sign out."),
        h("button", { type: "submit", class: "primary" }, "Sign in"),
      ),
    ],
  };
}

button.addEventListener("click", () => {
  if (!session.token) {
    current.abort();
    put(signInPage(null), true);
    return;
  }
  session.signOut();
  main.replaceChildren();
  show();
  announce("signed out");
});

// A token that is wrong or has ended is forgotten; the address stays, so that a new one leads back to it.
onUnauthenticated((problem, hadToken) => {
  current.abort();
  closeDialogs();
  showSession();
  put(signInPage(hadToken && problem), true);
});

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});

// A slash goes to the search field, as long as no field has the focus.
document.addEventListener("keydown", (event) => {
  const target = event.target;
  const isField = target instanceof HTMLElement && (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName));
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isField || document.querySelector("dialog[open]")) return;
  const field = document.querySelector("[data-search]");
  if (!field) return;
  event.preventDefault();
  field.focus();
  field.select();
});

addEventListener("hashchange", () => show());
show({ focus: false });
