// The resources of a stack as a tree of parents.

import { readDeployment, text, treeOf, urnName, urnType } from "./deployment.js";
import { chip, code, grownTable, h, row, time } from "./dom.js";
import { stackFrame } from "./stacks.js";
import { searchField } from "./states.js";
import { count, visible } from "./text.js";

const COLUMNS = ["Name", "Type", "Flags", "Changed"];
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

export async function stackResourcesView({ stack, query, setQuery, signal }) {
  const rows = treeOf((await readDeployment(stack, signal)).resources);
  const list = h("div", {});
  const told = h("p", { class: "quiet", role: "status" });
  const show = (search) => {
    const wanted = search.toLowerCase();
    const found = rows.filter(({ resource }) => text(resource.urn).toLowerCase().includes(wanted));
    told.textContent = search ? `${count(found.length)} of ${count(rows.length)} resources have this text in their URN` : `${count(rows.length)} ${rows.length === 1 ? "resource" : "resources"}`;
    list.replaceChildren(found.length > 0 ? grownTable("Resources", COLUMNS, found, resourceRow) : "");
  };
  const search = query.get("search") ?? "";
  const field = searchField("Search URNs", search, (found) => {
    setQuery({ search: found });
    show(found);
  });
  show(search);
  return stackFrame(stack, "resources", [h("form", { class: "tools", role: "search", onsubmit: (event) => event.preventDefault() }, field), told, list]);
}

function resourceRow({ resource, depth, odd }) {
  const urn = text(resource.urn);
  const errors = Array.isArray(resource.initErrors) ? resource.initErrors.length : 0;
  const flags = [
    FLAGS.filter(([member]) => resource[member] === true).map(([, kind, word]) => chip(kind, word)),
    errors > 0 && chip("bad", `${count(errors)} ${errors === 1 ? "error" : "errors"} when it was made`),
    resource.custom !== true && chip("quiet", "component"),
    odd && chip("bad", odd),
  ];
  const name = h("span", { class: "level", "data-level": depth, title: visible(urn) }, code(urnName(urn)));
  name.style.setProperty("--level", Math.min(depth, DEEPEST));
  const changed = text(resource.modified) || text(resource.created);
  return row(COLUMNS, [name, code(text(resource.type) || urnType(urn)), flags, changed ? time(changed) : "–"]);
}
