// The list of Pulumi stacks, and what is around the pages of one.

import { get, stackPath } from "./api.js";
import { chip, code, h, row, time } from "./dom.js";
import { repeat } from "./follow.js";
import { pages, searchField } from "./states.js";
import { count, exact, visible } from "./text.js";

const TABS = [
  ["", "Overview"],
  ["resources", "Resources"],
  ["outputs", "Outputs"],
  ["updates", "Updates"],
  ["journal", "Journal"],
];
/** How often it is looked whether a stack has changed, in milliseconds. */
const WATCHED = 3000;

/** The link to a page of a stack. */
export function stackLink({ owner, project, stack }, tab = "") {
  const path = ["stacks", owner, project, stack, tab].filter(Boolean).map(encodeURIComponent);
  return `#/${path.join("/")}`;
}

/** The name of a stack, as the CLI takes it. */
export function stackName({ owner, project, stack }) {
  return `${owner}/${project}/${stack}`;
}

/** A page of a stack: where it is, its other pages, its content. */
export function stackFrame(stack, tab, content, title) {
  const links = TABS.map(([name, label]) => h("a", { href: stackLink(stack, name), "aria-current": name === tab && "page" }, label));
  const project = `#/stacks?${new URLSearchParams({ search: `${stack.owner}/${stack.project}/` })}`;
  return {
    title: `${title ?? TABS.find(([name]) => name === tab)?.[1]} · ${visible(stackName(stack))}`,
    section: "stacks",
    content: [
      h("nav", { class: "crumbs", "aria-label": "Place" }, h("a", { href: "#/stacks" }, "Stacks"), " / ", h("a", { href: project }, `${stack.owner}/${stack.project}`)),
      h("h1", { tabindex: "-1" }, code(stackName(stack))),
      h("nav", { class: "tabs", "aria-label": "Pages of the stack" }, links),
      content,
    ],
  };
}

/** Looks now and then whether a stack has another version or another update than `known`, and calls `changed`, which gives what is known then. */
export function watchStack(stack, known, signal, changed) {
  const mark = (item) => [exact(item.version), item.activeUpdate, Boolean(item.currentOperation)].join(" ");
  let last = mark(known);
  const look = async () => {
    if (document.hidden) return true;
    const item = await get(stackPath(stack), {}, signal);
    if (mark(item) !== last) last = mark((await changed(item)) ?? item);
    return true;
  };
  setTimeout(() => repeat(look, signal, null, WATCHED), WATCHED);
}

/** A time in seconds since 1970. */
export function unixTime(seconds) {
  const date = new Date(Number(seconds) * 1000);
  return Number.isNaN(date.getTime()) ? exact(seconds) : time(date.toISOString());
}

const COLUMNS = ["Stack", "Last update", "Resources", "Update"];

function stackRow(item) {
  const stack = { owner: item.orgName, project: item.projectName, stack: item.stackName };
  // The protocol says 0 for an update that runs, and nothing where there was none.
  const isRunning = item.lastUpdate === 0;
  const last = item.lastUpdate ? unixTime(item.lastUpdate) : isRunning ? "now" : "never";
  return row(COLUMNS, [
    h("a", { href: stackLink(stack) }, code(stackName(stack))),
    last,
    item.resourceCount === undefined ? "–" : count(item.resourceCount),
    isRunning ? chip("warn", "in progress") : "–",
  ]);
}

export async function stacksView({ query, setQuery, signal, fail }) {
  /** How many parts of the list are searched before a user is asked whether to go on. */
  const MOST = 20;
  const filter = { search: query.get("search") ?? "" };
  const isFound = ({ orgName, projectName, stackName }) => `${orgName}/${projectName}/${stackName}`.toLowerCase().includes(filter.search.toLowerCase());
  const read = async (after, mine) => {
    const found = [];
    let next = after;
    for (let parts = 0; parts < MOST; parts += 1) {
      const page = await get("/api/user/stacks", { continuationToken: next }, mine);
      found.push(...page.stacks.filter(isFound));
      next = page.continuationToken;
      if (!next || found.length > 0) break;
    }
    return { rows: found.map(stackRow), next };
  };
  const list = pages("Stacks", COLUMNS, "no stack matches", { read, signal, fail });
  const field = searchField("Search stacks", filter.search, (text) => {
    filter.search = text;
    setQuery(filter);
    list.load();
  });
  list.load();
  return {
    title: "Stacks",
    section: "stacks",
    content: [h("h1", { tabindex: "-1" }, "Stacks"), h("form", { class: "tools", role: "search", onsubmit: (event) => event.preventDefault() }, field), list.node],
  };
}
