// The updates of a stack that have ended.

import { get, stackPath } from "./api.js";
import { chip, code, h, message, row } from "./dom.js";
import { stackFrame, stackLink, unixTime, watchStack } from "./stacks.js";
import { pages } from "./states.js";
import { count, duration, exact } from "./text.js";

const COLUMNS = ["Version", "Kind", "Result", "Changes", "Resources", "By", "Message", "Started", "Took", "Events"];
const PAGE = 50;
/** Versions that no engine makes, and that have no events. */
const WITHOUT_EVENTS = ["import", "rename", "create"];
const KINDS = { create: "good", import: "good", update: "warn", replace: "warn", delete: "bad" };

export async function updatesView({ stack, signal, fail }) {
  const read = async (after = { page: 1, below: Infinity }, mine) => {
    const { updates } = await get(`${stackPath(stack)}/updates`, { pageSize: PAGE, page: after.page }, mine);
    // Pages are counted from the newest update, so one that ends meanwhile shifts them.
    const older = updates.filter((update) => Number(update.version) < after.below);
    const below = Math.min(after.below, ...updates.map((update) => Number(update.version)));
    return { rows: older.map((update) => updateRow(stack, update)), next: updates.length === PAGE && { page: after.page + 1, below } };
  };
  const list = pages("Updates", COLUMNS, "the stack has never been updated", { read, signal, fail });
  const running = h("div", {});
  const show = ({ currentOperation }) => {
    const link = currentOperation && h("p", {}, chip("warn", "in progress"), " ", h("a", { href: stackLink(stack) }, `${currentOperation.kind} by ${currentOperation.author}`));
    running.replaceChildren(link ?? "");
    list.load();
  };
  const item = await get(stackPath(stack), {}, signal);
  show(item);
  watchStack(stack, item, signal, show);
  return stackFrame(stack, "updates", [running, list.node]);
}

/** What an update did: how many resources, in which way. */
export function changes(counts) {
  return Object.entries(counts ?? {}).map(([change, number]) => chip(KINDS[change] ?? "quiet", `${count(number)} ${change}`));
}

function updateRow(stack, update) {
  const version = exact(update.version);
  const hasRun = update.updateID && !update.source && !WITHOUT_EVENTS.includes(update.kind);
  const link = (tab, label) => h("a", { href: `${stackLink(stack, tab)}?${new URLSearchParams({ update: update.updateID })}`, "aria-label": `${label} of version ${version}` }, label);
  const took = Number(update.endTime) - Number(update.startTime);
  return row(COLUMNS, [
    code(version),
    update.kind,
    chip(update.result === "succeeded" ? "good" : "bad", update.result),
    changes(update.resourceChanges),
    count(update.resourceCount),
    [update.requestedBy?.name ?? "–", update.source && [" ", chip("quiet", `version ${exact(update.source.version)} elsewhere`)]],
    update.message ? message(update.message) : "",
    unixTime(update.startTime),
    took >= 0 ? duration(took) : "–",
    hasRun ? [link("events", "Events"), " ", link("journal", "Journal")] : "–",
  ]);
}
