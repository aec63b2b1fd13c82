// The journal of an update: what its engine stored, entry by entry.

import { get, stackPath } from "./api.js";
import { urnName, urnType } from "./deployment.js";
import { chip, code, h, row, table } from "./dom.js";
import { updatePath } from "./events.js";
import { repeat } from "./follow.js";
import { stackFrame, stackLink } from "./stacks.js";
import { count, exact, visible } from "./text.js";

const COLUMNS = ["Sequence", "Kind", "Operation", "Resource", "State"];
/** How many entries are shown. */
const LINES = 1000;
const KINDS = { begin: "quiet", success: "good", failure: "bad", "refresh-success": "good", outputs: "good" };

export async function journalView({ stack, query, signal }) {
  const update = query.get("update") || (await get(stackPath(stack), {}, signal)).activeUpdate;
  if (!update) return stackFrame(stack, "journal", h("p", {}, "The stack has never been updated."));
  // An update that there never was is a problem of the page.
  await get(updatePath(stack, update), {}, signal);
  const events = `${stackLink(stack, "events")}?${new URLSearchParams({ update })}`;
  const content = [
    h("h2", { id: "journal" }, "Journal of the update ", code(update)),
    h("p", {}, h("a", { href: events }, "Events"), " of the same update"),
    journalPanel(stack, update, signal),
  ];
  return stackFrame(stack, "journal", h("section", { "aria-labelledby": "journal" }, content));
}

/** The entries of a journal in the order of their numbers. While the update runs, new ones come by themselves. */
function journalPanel(stack, update, signal) {
  const grid = table("Journal", COLUMNS, []);
  grid.hidden = true;
  const body = grid.querySelector("tbody");
  const told = h("p", { class: "quiet", role: "status" }, "Loading …");
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const tally = { total: 0, dropped: 0 };
  let next = 0;

  const show = (entry) => {
    const line = entryRow(entry);
    line.dataset.sequence = exact(entry.sequenceID);
    let before = null;
    for (let at = body.lastElementChild; at && Number(at.dataset.sequence) > Number(line.dataset.sequence); at = at.previousElementSibling) before = at;
    body.insertBefore(line, before);
    tally.total += 1;
    if (body.rows.length <= LINES) return;
    body.rows[0].remove();
    tally.dropped += 1;
  };
  const read = async () => {
    for (let more = true; more; ) {
      const page = await get(`${updatePath(stack, update)}/journal`, { from: next }, signal);
      page.entries.forEach(show);
      ({ next, more } = page);
    }
    grid.hidden = tally.total === 0;
  };
  const look = async () => {
    // What is said of the end before the entries are read holds for all of them.
    const { status } = await get(updatePath(stack, update), {}, signal);
    await read();
    const isRunning = status === "running";
    const parts = [
      isRunning ? "The update runs, and this list grows." : `The update has ended: ${visible(status)}.`,
      tally.total > 0 || isRunning ? `${count(tally.total)} ${tally.total === 1 ? "entry" : "entries"}` : "No entry is stored: journals stay until the next update has succeeded, and some clients write none.",
      tally.dropped > 0 && `the first ${count(tally.dropped)} are not shown`,
    ];
    told.textContent = parts.filter(Boolean).join(" · ");
    return isRunning;
  };
  repeat(look, signal, problem);
  return h("div", {}, told, problem, grid);
}

function entryRow(entry) {
  const { kind, operation, urn, type } = entry;
  const number = entry.operationID === 0 ? "–" : exact(entry.operationID);
  return row(COLUMNS, [
    code(exact(entry.sequenceID)),
    chip(KINDS[kind] ?? "warn", kind),
    operation ? [chip("quiet", operation), number] : number,
    urn ? [code(urnName(urn), { title: visible(urn) }), " ", code(type || urnType(urn))] : "–",
    states(entry),
  ]);
}

/** What an entry does to the state, in words. */
function states(entry) {
  const words = [
    entry.state && "recorded",
    entry.removed && `removes ${target(entry.removed)}`,
    entry.pendingReplacement && `marks ${target(entry.pendingReplacement)} as pending replacement`,
    entry.deleted && `marks ${target(entry.deleted)} as pending delete`,
    entry.resources !== undefined && `a base of ${count(entry.resources)} resources`,
    entry.secretsProvider && `secrets by ${entry.secretsProvider}`,
  ];
  return words.filter(Boolean).join("; ") || "–";
}

function target({ base, operation }) {
  return base === undefined ? `what operation ${exact(operation)} recorded` : `resource ${exact(base)} of the base`;
}
