// The resources of a stack as a tree of parents.

import { get, stackPath } from "./api.js";
import { urnName, urnType } from "./deployment.js";
import { chip, code, h, row, table, time } from "./dom.js";
import { stackFrame } from "./stacks.js";
import { searchField } from "./states.js";
import { count, visible } from "./text.js";

const COLUMNS = ["Name", "Type", "Flags", "Changed"];
/** How many resources are read at a time. */
const PAGE = 250;
/** Deeper levels are indented no further. */
const DEEPEST = 12;
const FLAGS = [
  ["delete", "bad", "pending delete"],
  ["pendingReplacement", "warn", "pending replacement"],
  ["taint", "warn", "tainted"],
  ["protect", "good", "protected"],
  ["retainOnDelete", "quiet", "retained on delete"],
  ["external", "quiet", "external"],
];

export async function stackResourcesView({ stack, query, setQuery, signal, fail }) {
  const list = h("div", {});
  const told = h("p", { class: "quiet", role: "status" });
  let search = query.get("search") ?? "";
  let run = new AbortController();
  signal.addEventListener("abort", () => run.abort());
  const read = (version, offset, mine) => get(`${stackPath(stack)}/resources`, { search, version, offset, limit: PAGE }, mine);
  const load = async () => {
    run.abort();
    run = new AbortController();
    const mine = run.signal;
    const page = await read(undefined, 0, mine);
    told.textContent = search ? `${count(page.found)} of ${count(page.count)} resources have this text in their URN` : `${count(page.count)} ${page.count === 1 ? "resource" : "resources"}`;
    list.replaceChildren(page.found > 0 ? grown(page, mine) : "");
  };
  /** A table that reads on when it is asked to, in the same version. */
  const grown = (page, mine) => {
    const grid = table("Resources", COLUMNS, page.resources.map(resourceRow));
    if (page.resources.length >= page.found) return grid;
    const body = grid.querySelector("tbody");
    const shown = h("span", { class: "quiet", role: "status" });
    const more = h("button", { type: "button" }, "Show more");
    const tell = () => {
      shown.textContent = `${count(body.rows.length)} of ${count(page.found)} shown`;
      more.hidden = body.rows.length >= page.found;
      more.disabled = false;
    };
    more.addEventListener("click", async () => {
      more.disabled = true;
      try {
        const next = await read(page.version, body.rows.length, mine);
        body.append(...next.resources.map(resourceRow));
        tell();
      } catch (error) {
        if (error.name !== "AbortError") fail(error);
      }
    });
    tell();
    return h("div", {}, grid, h("div", { class: "more" }, shown, more));
  };
  const field = searchField("Search URNs", search, (found) => {
    search = found;
    setQuery({ search: found });
    load().catch((error) => error.name !== "AbortError" && fail(error));
  });
  await load();
  return stackFrame(stack, "resources", [h("form", { class: "tools", role: "search", onsubmit: (event) => event.preventDefault() }, field), told, list]);
}

function resourceRow(resource) {
  const { urn, type, depth, flags: set, initErrors, odd, changed } = resource;
  const flags = [
    FLAGS.filter(([flag]) => set.includes(flag)).map(([, kind, word]) => chip(kind, word)),
    initErrors > 0 && chip("bad", `${count(initErrors)} ${initErrors === 1 ? "error" : "errors"} when it was made`),
    !set.includes("custom") && chip("quiet", "component"),
    odd && chip("bad", odd),
  ];
  const name = h("span", { class: "level", "data-level": depth, title: visible(urn) }, code(urnName(urn)));
  name.style.setProperty("--level", Math.min(depth, DEEPEST));
  return row(COLUMNS, [name, code(type || urnType(urn)), flags, changed ? time(changed) : "–"]);
}
