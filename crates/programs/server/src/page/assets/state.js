// One state: summary and lock, outputs, the picture.

import { get, picture, post, statePath } from "./api.js";
import { actingButton, confirmWithReason } from "./dialogs.js";
import { announce, chip, code, h, pre, row, table, time } from "./dom.js";
import { lockChip, stateLink, stateName } from "./states.js";
import { count, duration, exact, size, visible, writeJson } from "./text.js";

const TABS = [
  ["", "Overview"],
  ["resources", "Resources"],
  ["outputs", "Outputs"],
  ["versions", "Versions"],
  ["graph", "Dependencies"],
];

/** A page of a state: where it is, its other pages, its content. */
export function frame(state, tab, content, title) {
  const links = TABS.map(([name, label]) => h("a", { href: stateLink(state, name), "aria-current": name === tab && "page" }, label));
  const project = `#/?project=${encodeURIComponent(state.project)}`;
  return {
    title: `${title ?? TABS.find(([name]) => name === tab)?.[1]} · ${visible(stateName(state))}`,
    section: "states",
    content: [
      h("nav", { class: "crumbs", "aria-label": "Place" }, h("a", { href: "#/" }, "States"), " / ", h("a", { href: project }, state.project)),
      h("h1", { tabindex: "-1" }, code(stateName(state))),
      h("nav", { class: "tabs", "aria-label": "Pages of the state" }, links),
      content,
    ],
  };
}

/** Facts with their names; those without a value are left out. */
export function facts(pairs) {
  const told = pairs.filter(([, value]) => value !== null && value !== undefined && value !== false && value !== "");
  return h("dl", { class: "facts" }, told.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

export async function overviewView({ state, signal, reload }) {
  const item = await get(statePath(state), {}, signal);
  const address = new URL(item.url, location.origin).href;
  const content = [
    h("section", { "aria-labelledby": "summary" }, h("h2", { id: "summary" }, "Summary"), summary(item), h("h3", {}, "Backend"), backend(address)),
    h("section", { "aria-labelledby": "lock" }, h("h2", { id: "lock" }, "Lock"), lockPanel(state, item.lock, reload)),
  ];
  return frame(state, "", h("div", { class: "columns" }, content));
}

/** The block for a configuration, whole: without the addresses of the lock Terraform locks nothing. */
function backend(address) {
  const url = JSON.stringify(address);
  const block = `terraform {\n  backend "http" {\n    address        = ${url}\n    lock_address   = ${url}\n    unlock_address = ${url}\n  }\n}\n`;
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(block);
      announce("The block is copied.");
    } catch {
      announce("The browser does not let the page copy; select the block.");
    }
  };
  return [pre(block, "Backend"), h("button", { type: "button", onclick: copy }, "Copy the block")];
}

function summary(item) {
  const version = item.version;
  if (!version) {
    const why = item.last_version === 0 ? "It was locked, and never written." : "It was deleted. Its versions stay, and a rollback brings one of them back.";
    return h("p", {}, chip("bad", item.last_version === 0 ? "never written" : "deleted"), " ", why);
  }
  return [
    facts([
      ["Serial", version.serial !== undefined && code(exact(version.serial))],
      ["Lineage", version.lineage && code(version.lineage)],
      ["Version", [code(exact(version.number)), version.rolled_back_to !== undefined && ` (content of version ${version.rolled_back_to})`]],
      ["Resources", version.resources !== undefined && count(version.resources)],
      ["Outputs", version.outputs !== undefined && count(version.outputs)],
      ["Written", [time(version.time), ` by ${version.by}`]],
      ["Terraform", version.terraform_version],
      ["Size", size(version.size)],
      ["SHA-256", code(version.sha256, { class: "long" })],
      ["Encryption", version.encrypted && "OpenTofu has encrypted it; its resources and outputs cannot be read here"],
    ]),
    version.remarks?.length > 0 && h("ul", { class: "remarks" }, version.remarks.map((remark) => h("li", {}, chip("warn", "odd"), " ", remark))),
  ];
}

function lockPanel(state, lock, reload) {
  if (!lock) return h("p", {}, lockChip(null), " No client holds the lock.");
  return [
    h("p", {}, lockChip(lock)),
    facts([
      ["Id", code(lock.id, { class: "long" })],
      ["Holder", lock.who],
      ["For", lock.operation],
      ["Taken", [time(lock.taken), ` by ${lock.by}`]],
      ["Ends", lock.expires && time(lock.expires)],
      ["Program", lock.program_version],
      ["Says", lock.info],
      ["Fencing token", exact(lock.token)],
    ]),
    h("button", { type: "button", class: "danger", onclick: () => breakLock(state, lock, reload) }, "Break the lock …"),
  ];
}

async function breakLock(state, lock, reload) {
  const { done, stale } = await confirmWithReason({
    title: "Break the lock?",
    facts: [
      h("p", {}, "The lock ", code(lock.id), " of ", code(stateName(state)), " ends now."),
      h("p", {}, `It is held by ${lock.who || lock.by} for ${duration(lock.age_seconds)}${lock.operation ? ` (${lock.operation})` : ""}. `, "If that process still runs, its next write is refused, and what it changes is not recorded in the state."),
    ],
    why: "The holder and the audit log get it.",
    action: "Break the lock",
    run: (reason) => post(`${statePath(state)}/lock/break`, { id: lock.id, reason }),
  });
  if (stale) await reload();
  if (done) announce("the lock is broken");
}

export async function outputsView({ state, signal }) {
  const { version, outputs } = await get(`${statePath(state)}/outputs`, {}, signal);
  const columns = ["Name", "Type", "Value"];
  const rows = outputs.map((output) => row(columns, [[code(output.name), output.deprecated && [" ", chip("warn", "deprecated"), ` ${output.deprecated}`]], code(typeof output.type === "string" ? output.type : writeJson(output.type)), valueCell(state, output)]));
  const secrets = outputs.filter((output) => output.sensitive).length;
  return frame(state, "outputs", [
    h("p", { class: "quiet" }, `${count(outputs.length)} ${outputs.length === 1 ? "output" : "outputs"} of version ${version}`, secrets > 0 && `, ${count(secrets)} secret. The audit log has each look at a secret.`),
    outputs.length > 0 && table("Outputs", columns, rows),
  ]);
}

function valueCell(state, output) {
  if (!output.sensitive) return value(output.name, output.value);
  const cell = h("div", { class: "secret" });
  const hide = () => {
    const [button, problem] = actingButton("Reveal", `Reveal ${visible(output.name)}`, reveal);
    cell.replaceChildren(chip("quiet", "hidden"), button, problem);
    return button;
  };
  const reveal = async () => {
    const told = await get(`${statePath(state)}/outputs/${encodeURIComponent(output.name)}`, { reveal: true });
    const [button] = actingButton("Hide", `Hide ${visible(output.name)}`, () => hide().focus());
    cell.replaceChildren(value(told.name, told.value), button);
    button.focus();
  };
  hide();
  return cell;
}

/** A value as JSON; none is a dash. */
export function value(name, found) {
  if (found === undefined) return "–";
  const text = writeJson(found);
  return text.includes("\n") ? pre(text, `Value of ${visible(name)}`) : code(text);
}

export async function graphView({ state, signal }) {
  const url = await picture(`${statePath(state)}/graph.svg`, {}, signal);
  signal.addEventListener("abort", () => URL.revokeObjectURL(url));
  const name = visible(stateName(state));
  const image = h("img", { src: url, alt: `Dependencies of the resources of ${name}. The page of resources lists them as text.` });
  const region = h("div", { class: "picture fits", role: "region", "aria-label": "Picture", tabindex: "0" }, image);
  const fit = h("button", { type: "button", "aria-pressed": "true", onclick: () => zoom(null) }, "Fit the width");
  /** Shows the picture this wide, or as wide as fits. */
  const zoom = (width) => {
    region.classList.toggle("fits", width === null);
    fit.setAttribute("aria-pressed", String(width === null));
    if (width === null) image.removeAttribute("width");
    else image.width = Math.round(Math.min(Math.max(width, 100), image.naturalWidth * 4));
  };
  const step = (label, text, factor) => h("button", { type: "button", "aria-label": label, onclick: () => zoom(image.clientWidth * factor) }, text);
  const file = `${[state.project, state.state, state.workspace].join("-")}.svg`;
  return frame(state, "graph", [
    h("p", { class: "quiet" }, "Arrows lead from what needs something to what it needs."),
    h("div", { class: "tools" }, fit, step("Smaller", "−", 1 / 1.5), step("Larger", "+", 1.5), h("button", { type: "button", onclick: () => zoom(image.naturalWidth) }, "Full size"), h("a", { href: url, download: file }, "Download the SVG")),
    region,
  ]);
}
