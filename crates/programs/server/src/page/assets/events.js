// What an engine tells of an update, while it runs and afterwards.

import { get, stackPath } from "./api.js";
import { text, urnName, urnType } from "./deployment.js";
import { chip, code, h, message } from "./dom.js";
import { repeat } from "./follow.js";
import { stackFrame } from "./stacks.js";
import { count, visible } from "./text.js";
import { changes } from "./updates.js";

/** How many lines are kept. */
const LINES = 1000;
/** After so many looks an event that is missing is given up: an engine does not send again what got lost. */
const PATIENCE = 10;

export async function eventsView({ stack, query, signal }) {
  const update = query.get("update") ?? "";
  // An update that there never was is a problem of the page.
  await get(updatePath(stack, update), {}, signal);
  return stackFrame(stack, "updates", h("section", { "aria-labelledby": "events" }, h("h2", { id: "events" }, "Events of the update ", code(update)), eventsPanel(stack, update, signal)), "Events");
}

/** The path of an update in the protocol of Pulumi. */
export function updatePath(stack, update) {
  return `${stackPath(stack)}/update/${encodeURIComponent(update)}`;
}

/** The events of an update as lines. While it runs, new ones come by themselves; `ended` is called once it has ended. */
export function eventsPanel(stack, update, signal, ended = () => {}) {
  const path = updatePath(stack, update);
  const list = h("ol", { class: "events", role: "region", "aria-label": "Events", tabindex: "0" });
  const told = h("p", { class: "quiet", role: "status" }, "Loading …");
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const events = new Order();
  const tally = { quiet: 0, dropped: 0 };

  const show = (event) => {
    const line = lineOf(event);
    if (!line) {
      tally.quiet += 1;
      return;
    }
    const element = h("li", { "data-sequence": event.sequence }, clock(event.timestamp), line);
    let before = null;
    for (let at = list.lastElementChild; at && Number(at.dataset.sequence) > event.sequence; at = at.previousElementSibling) before = at;
    list.insertBefore(element, before);
    if (list.childElementCount > LINES) {
      list.firstElementChild.remove();
      tally.dropped += 1;
    }
  };
  const read = async () => {
    const isAtEnd = list.scrollTop + list.clientHeight >= list.scrollHeight - 4;
    let from = events.next;
    do {
      const page = await get(`${path}/events`, { continuationToken: from }, signal);
      page.events.filter((event) => events.takes(event.sequence)).forEach(show);
      from = page.continuationToken;
    } while (from);
    events.wait();
    if (isAtEnd) list.scrollTop = list.scrollHeight;
  };
  const tell = (status) => {
    const parts = [
      status === "running" ? "The update runs, and this list grows." : `The update ${status === "not started" ? "has not started" : `has ended: ${status}`}.`,
      `${count(events.total)} ${events.total === 1 ? "event" : "events"}`,
      tally.quiet > 0 && `${count(tally.quiet)} of them on what does not change`,
      tally.dropped > 0 && `the first ${count(tally.dropped)} lines are not kept`,
    ];
    told.textContent = parts.filter(Boolean).join(" · ");
  };
  const look = async () => {
    // What is said of the end before the events are read holds for all of them.
    const { status } = await get(path, {}, signal);
    await read();
    tell(visible(status));
    if (status === "running") return true;
    ended();
    return false;
  };
  repeat(look, signal, problem);
  return h("div", {}, told, problem, list);
}

/** Which events are there. They come in batches that overtake each other, so what is missing is asked for again. */
class Order {
  total = 0;
  /** All before it are there, or given up. */
  next = 0;
  #later = new Set();
  #waits = 0;

  /** Whether an event is new. */
  takes(sequence) {
    if (!Number.isSafeInteger(sequence) || sequence < this.next || this.#later.has(sequence)) return false;
    this.#later.add(sequence);
    this.total += 1;
    this.#advance();
    return true;
  }

  /** One look is over. */
  wait() {
    this.#waits = this.#later.size > 0 ? this.#waits + 1 : 0;
    if (this.#waits < PATIENCE) return;
    this.next = [...this.#later].reduce((least, sequence) => Math.min(least, sequence));
    this.#advance();
    this.#waits = 0;
  }

  #advance() {
    while (this.#later.delete(this.next)) this.next += 1;
  }
}

function clock(seconds) {
  const date = new Date(Number(seconds) * 1000);
  if (seconds === undefined || Number.isNaN(date.getTime())) return "";
  return h("time", { datetime: date.toISOString(), title: date.toISOString() }, date.toLocaleTimeString("en-GB"));
}

const STEPS = { resourcePreEvent: ["quiet", "begins"], resOutputsEvent: ["good", "done"], resOpFailedEvent: ["bad", "failed"] };
const SEVERITIES = { error: "bad", warning: "warn" };
/** Events that say nothing to a reader: configuration, and how far a download is. */
const SILENT = ["preludeEvent", "progressEvent", "policyLoadEvent", "policyAnalyzeSummaryEvent", "policyAnalyzeStackSummaryEvent", "policyRemediateSummaryEvent"];
/** Longer messages are cut. */
const LONGEST = 10_000;

/** What a line says; none for what has nothing to say. Values of resources are in no line. */
function lineOf(event) {
  const kind = Object.keys(event).find((member) => member.endsWith("Event"));
  const told = event[kind];
  if (!kind || SILENT.includes(kind) || told === null || typeof told !== "object") return null;
  if (Object.hasOwn(STEPS, kind)) return stepLine(STEPS[kind], told.metadata ?? {}, kind !== "resOpFailedEvent");
  switch (kind) {
    case "diagnosticEvent":
      return [chip(SEVERITIES[told.severity] ?? "quiet", text(told.severity) || "message"), subject(text(told.urn)), words(told.message)];
    case "policyEvent":
      return [chip("warn", `policy ${text(told.policyName)}`), subject(text(told.resourceUrn)), words(told.message)];
    case "stdoutEvent":
      return text(told.message).trim() ? [words(told.message)] : null;
    case "errorEvent":
      return [chip("bad", "error"), words(told.error)];
    case "cancelEvent":
      return [chip("warn", "cancelled")];
    case "summaryEvent":
      return [chip("quiet", "summary"), changes(told.resourceChanges)];
    default:
      return [chip("quiet", kind.replace(/Event$/, ""))];
  }
}

function stepLine([kind, word], metadata, mayBeSilent) {
  const op = text(metadata.op);
  if (mayBeSilent && op === "same") return null;
  const urn = text(metadata.urn);
  return [chip(kind, `${op} ${word}`), code(text(metadata.type) || urnType(urn)), " ", subject(urn)];
}

function subject(urn) {
  return urn && [code(urnName(urn), { title: visible(urn) }), " "];
}

/** A message without the engine's marks of colours. */
function words(found) {
  const plain = text(found).replace(/<\{%[^%]*%\}>/g, "").trimEnd();
  const left = plain.length - LONGEST;
  return message(left > 0 ? `${plain.slice(0, LONGEST)} … (${count(left)} characters more)` : plain);
}
