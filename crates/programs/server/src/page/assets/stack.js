// One stack: summary, the update that runs, pending operations, outputs.

import { Problem, get, stackPath } from "./api.js";
import { outputsOf, readDeployment, text, urnName, urnType } from "./deployment.js";
import { problemText } from "./dialogs.js";
import { chip, code, grownTable, h, pre, row } from "./dom.js";
import { eventsPanel } from "./events.js";
import { stackFrame, stackLink, stackName, unixTime } from "./stacks.js";
import { facts, value } from "./state.js";
import { Mark, count, exact, visible } from "./text.js";

export async function stackView({ stack, signal, fail }) {
  const summary = h("div", {});
  const pending = h("div", {});
  const running = h("p", {});
  const read = async () => {
    const [item, state] = await Promise.all([get(stackPath(stack), {}, signal), readDeployment(stack, signal).catch(tooLarge)]);
    summary.replaceChildren(...summaryOf(stack, item, state));
    pending.replaceChildren(state instanceof Problem ? h("p", { class: "problem" }, problemText(state)) : pendingOf(state));
    running.replaceChildren(...runningOf(item.currentOperation));
    return item;
  };
  const item = await read();
  // What is above the events is read anew once there are no more of them.
  const ended = () => read().catch((error) => error.name !== "AbortError" && fail(error));
  const events = item.currentOperation && item.activeUpdate ? eventsPanel(stack, item.activeUpdate, signal, ended) : h("p", {}, h("a", { href: stackLink(stack, "updates") }, "Updates that have ended"));
  const content = [
    h("section", { "aria-labelledby": "summary" }, h("h2", { id: "summary" }, "Summary"), summary),
    h("section", { "aria-labelledby": "pending" }, h("h2", { id: "pending" }, "Pending operations"), pending),
    h("section", { class: "whole", "aria-labelledby": "running" }, h("h2", { id: "running" }, "Update"), running, events),
  ];
  return stackFrame(stack, "", h("div", { class: "columns" }, content));
}

/** A state that is too large to be shown leaves the rest as it is. */
function tooLarge(error) {
  if (error instanceof Problem && error.status === 413) return error;
  throw error;
}

function summaryOf(stack, item, state) {
  const tags = Object.entries(item.tags ?? {}).map(([name, tag]) => [chip("quiet", `${name}: ${tag}`), " "]);
  return [
    facts([
      ["Version", code(exact(item.version))],
      ["Resources", state.resources && count(state.resources.length)],
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
  const line = ({ resource, type }) => {
    const urn = text(resource?.urn);
    return row(PENDING_COLUMNS, [code(urnName(urn), { title: visible(urn) }), chip("warn", text(type)), code(text(resource?.type) || urnType(urn))]);
  };
  return h(
    "div",
    {},
    h("p", {}, "An update was interrupted while these were under way. Whether they took place is not known: ", code("pulumi refresh"), " asks."),
    grownTable("Pending operations", PENDING_COLUMNS, pending, line),
  );
}

const OUTPUT_COLUMNS = ["Name", "Value"];

export async function stackOutputsView({ stack, signal }) {
  const outputs = outputsOf(await readDeployment(stack, signal));
  const line = (output) => row(OUTPUT_COLUMNS, [code(output.name), output.value instanceof Mark && output.value.text === "secret" ? chip("quiet", "secret") : value(output.name, output.value)]);
  return stackFrame(stack, "outputs", [
    h("p", { class: "quiet" }, `${count(outputs.length)} ${outputs.length === 1 ? "output" : "outputs"} of the stack. Secrets are not shown here: `, code("pulumi stack output --show-secrets"), " shows them."),
    outputs.length > 0 && grownTable("Outputs", OUTPUT_COLUMNS, outputs, line),
  ]);
}
