// One stack: summary, the update that runs, pending operations, outputs.

import { get, stackPath } from "./api.js";
import { urnName, urnType, withoutSecrets } from "./deployment.js";
import { chip, code, grownTable, h, pre, row } from "./dom.js";
import { eventsPanel } from "./events.js";
import { stackFrame, stackLink, stackName, unixTime, watchStack } from "./stacks.js";
import { facts, value } from "./state.js";
import { Mark, count, exact, visible } from "./text.js";

export async function stackView({ stack, signal, fail }) {
  const summary = h("div", {});
  const pending = h("div", {});
  const running = h("p", {});
  const events = h("div", {}, h("p", {}, h("a", { href: stackLink(stack, "updates") }, "Updates that have ended")));
  let followed = { update: "", stop: new AbortController() };
  signal.addEventListener("abort", () => followed.stop.abort());
  const follow = (update) => {
    followed.stop.abort();
    followed = { update, stop: new AbortController() };
    const mine = followed.stop.signal;
    // What is above the events is read anew once there are no more of them.
    const ended = () => read().catch((error) => error.name !== "AbortError" && fail(error));
    events.replaceChildren(eventsPanel(stack, update, mine, ended));
  };
  const read = async () => {
    const [item, state] = await Promise.all([get(stackPath(stack), {}, signal), get(`${stackPath(stack)}/resources`, { limit: 1 }, signal)]);
    summary.replaceChildren(...summaryOf(stack, item, state));
    pending.replaceChildren(pendingOf(state));
    running.replaceChildren(...runningOf(item.currentOperation));
    if (item.currentOperation && item.activeUpdate && item.activeUpdate !== followed.update) follow(item.activeUpdate);
    return item;
  };
  watchStack(stack, await read(), signal, read);
  const content = [
    h("section", { "aria-labelledby": "summary" }, h("h2", { id: "summary" }, "Summary"), summary),
    h("section", { "aria-labelledby": "pending" }, h("h2", { id: "pending" }, "Pending operations"), pending),
    h("section", { class: "whole", "aria-labelledby": "running" }, h("h2", { id: "running" }, "Update"), running, events),
  ];
  return stackFrame(stack, "", h("div", { class: "columns" }, content));
}

function summaryOf(stack, item, state) {
  const tags = Object.entries(item.tags ?? {}).map(([name, tag]) => [chip("quiet", `${name}: ${tag}`), " "]);
  return [
    facts([
      ["Version", code(exact(item.version))],
      ["Resources", count(state.count)],
      ["Engine", state.engine],
      ["Secrets", state.secretsProvider && ["encrypted by ", code(state.secretsProvider)]],
      ["Tags", tags.length > 0 && tags],
    ]),
    h("h3", {}, "For the CLI"),
    pre(`pulumi login ${location.origin}\npulumi stack select ${stackName(stack)}`, "Commands that select the stack"),
  ];
}

function runningOf(operation) {
  if (!operation) return ["No update runs."];
  return [chip("warn", "in progress"), ` ${operation.kind} by ${operation.author}, started `, unixTime(operation.started)];
}

const PENDING_COLUMNS = ["Name", "Operation", "Type"];

function pendingOf({ pending }) {
  if (pending.length === 0) return h("p", {}, "There are none.");
  const line = ({ operation, urn, type }) => row(PENDING_COLUMNS, [code(urnName(urn), { title: visible(urn) }), chip("warn", operation), code(type || urnType(urn))]);
  return h(
    "div",
    {},
    h("p", {}, "An update was interrupted while these were under way. Whether they took place is not known: ", code("pulumi refresh"), " asks."),
    grownTable("Pending operations", PENDING_COLUMNS, pending, line),
  );
}

const OUTPUT_COLUMNS = ["Name", "Value"];

export async function stackOutputsView({ stack, signal }) {
  const found = await get(`${stackPath(stack)}/outputs`, {}, signal);
  const outputs = found.outputs.map((output) => ({ name: output.name, value: withoutSecrets(output.value) }));
  const line = (output) => row(OUTPUT_COLUMNS, [code(output.name), output.value instanceof Mark && output.value.text === "secret" ? chip("quiet", "secret") : value(output.name, output.value)]);
  return stackFrame(stack, "outputs", [
    h("p", { class: "quiet" }, `${count(outputs.length)} ${outputs.length === 1 ? "output" : "outputs"} of the stack. Secrets are not shown here: `, code("pulumi stack output --show-secrets"), " shows them."),
    outputs.length > 0 && grownTable("Outputs", OUTPUT_COLUMNS, outputs, line),
  ]);
}
