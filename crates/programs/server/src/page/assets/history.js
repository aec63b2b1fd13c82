// The history of a state: versions, what differs between two, and going back.

import { get, post, statePath } from "./api.js";
import { actingButton, confirmWithReason } from "./dialogs.js";
import { announce, chip, code, h, pre, row, table, time } from "./dom.js";
import { frame } from "./state.js";
import { lockChip, stateLink, stateName } from "./states.js";
import { count, exact, size, visible, writeJson } from "./text.js";

const COLUMNS = ["Version", "Compare", "Serial", "Written", "By", "Resources", "Size", "Remarks", "Rollback"];
const PAGE = 50;
/** Problems of a rollback that force overcomes. */
const FORCEABLE = ["urn:groundstate:problem:conflict", "urn:groundstate:problem:unreadable-state"];

export async function versionsView({ state, signal, reload, navigate, fail }) {
  const [item, first] = await Promise.all([get(statePath(state), {}, signal), get(`${statePath(state)}/versions`, { limit: PAGE }, signal)]);
  const numbers = first.versions.filter((version) => !version.deleted).map((version) => exact(version.number));
  const chosen = { from: numbers[1] ?? numbers[0], to: numbers[0] };
  const line = (version) => versionRow(state, item, version, chosen, reload);
  const grid = table("Versions", COLUMNS, first.versions.map(line));
  const body = grid.querySelector("tbody");
  const more = h("button", { type: "button", hidden: first.next_before === undefined }, "Show older versions");
  let before = first.next_before;
  more.addEventListener("click", async () => {
    more.disabled = true;
    try {
      const page = await get(`${statePath(state)}/versions`, { limit: PAGE, before }, signal);
      body.append(...page.versions.map(line));
      before = page.next_before;
      more.hidden = before === undefined;
    } catch (error) {
      if (error.name !== "AbortError") fail(error);
    } finally {
      more.disabled = false;
    }
  });
  const compare = (event) => {
    event.preventDefault();
    const data = new FormData(event.target);
    navigate(`${stateLink(state, "diff")}?from=${data.get("from")}&to=${data.get("to")}`);
  };
  const missing = first.missing?.length > 0 && h("p", { class: "problem" }, `The store lacks versions that the history should have: ${first.missing.map(exact).join(", ")}`);
  const form = h(
    "form",
    { onsubmit: compare },
    h("div", { class: "tools" }, h("button", { type: "submit", disabled: numbers.length < 2 }, "Compare the two chosen versions"), lockChip(item.lock)),
    grid,
    h("div", { class: "more" }, more),
  );
  return frame(state, "versions", [missing, form]);
}

function versionRow(state, item, version, chosen, reload) {
  const number = exact(version.number);
  const isPresent = item.version !== undefined && exact(item.version.number) === number;
  const radio = (name, label) =>
    h("label", {}, h("input", { type: "radio", name, value: number, checked: chosen[name] === number, required: true, "aria-label": `${label} version ${number}` }), ` ${name}`);
  const remarks = [
    isPresent && chip("good", "present"),
    version.deleted && chip("bad", "deletion"),
    item.pinned_versions.some((pinned) => exact(pinned) === number) && chip("quiet", "pinned"),
    version.encrypted && chip("quiet", "encrypted"),
    version.rolled_back_to !== undefined && chip("quiet", `content of ${version.rolled_back_to}`),
    version.remarks?.map((remark) => [chip("warn", "odd"), ` ${remark}`]),
  ];
  const back = !isPresent && !version.deleted;
  const hasEarlier = !version.deleted && version.number > item.oldest_version;
  return row(COLUMNS, [
    hasEarlier ? h("a", { href: `${stateLink(state, "diff")}?from=${version.number - 1}&to=${number}`, "aria-label": `What version ${number} changed` }, code(number)) : code(number),
    version.deleted ? "–" : h("span", { class: "pair" }, radio("from", "Compare from"), radio("to", "Compare to")),
    version.serial === undefined ? "–" : code(exact(version.serial)),
    time(version.time),
    version.by,
    version.resources === undefined ? "–" : count(version.resources),
    version.deleted ? "–" : size(version.size),
    remarks,
    back ? h("button", { type: "button", "aria-label": `Roll back to version ${number}`, onclick: () => rollBack(state, version, reload) }, "Roll back …") : "–",
  ]);
}

async function rollBack(state, version, reload) {
  // The lock and the present version may be others by now.
  let item;
  try {
    item = await get(statePath(state));
  } catch (error) {
    announce(error.message);
    return;
  }
  const force = h("label", { class: "check", hidden: true }, h("input", { type: "checkbox", name: "force" }), " force it: the lineage may be another, and the very bytes come back if the serial cannot be raised");
  const present = item.version;
  const { stale } = await confirmWithReason({
    title: `Roll back to version ${version.number}?`,
    facts: [
      h("p", {}, "The content of version ", code(exact(version.number)), version.serial !== undefined && [" (serial ", code(exact(version.serial)), ")"], `, which ${version.by} wrote `, time(version.time), ", becomes the newest version of ", code(stateName(state)), ". It gets a serial above all before, so that clients take it."),
      present && h("p", {}, "It replaces version ", code(exact(present.number)), present.serial !== undefined && [" (serial ", code(exact(present.serial)), ")"], `, which stays in the history.`),
      h("p", {}, "Real resources are not changed: the next plan shows what differs from them."),
      item.lock && h("p", {}, chip("warn", "locked"), ` ${item.lock.who || item.lock.by} holds the lock, so the rollback will be refused.`),
    ],
    why: "The audit log gets it.",
    extra: force,
    action: "Roll back",
    run: async (reason, form) => {
      try {
        const body = { version: version.number, reason, force: form.elements.force.checked };
        const written = await post(`${statePath(state)}/rollback`, body);
        announce(`version ${written.number} has the content of version ${version.number}`);
      } catch (error) {
        force.hidden = !FORCEABLE.includes(error.type);
        throw error;
      }
    },
  });
  if (stale) await reload();
}

const SIGNS = { added: ["+", "good"], removed: ["−", "bad"], changed: ["~", "warn"] };
const CHANGES = 200;

/** How many things changed in one way; a colour only if any did. */
function tally(change, number) {
  const [sign, kind] = SIGNS[change];
  return chip(number > 0 ? kind : "quiet", `${sign} ${count(number)} ${change}`);
}

export async function diffView({ state, query, signal }) {
  const diff = await get(`${statePath(state)}/diff`, { from: query.get("from"), to: query.get("to") }, signal);
  return frame(state, "versions", diffPage(state, diff), "Difference");
}

function diffPage(state, diff) {
  const page = h("section", { "aria-labelledby": "diff" });
  const show = (shown, revealed) => {
    const { added, removed, changed } = shown.summary;
    const hidden = shown.changes.some((change) => change.fields.some((field) => field.before_sensitive || field.after_sensitive));
    const toggle = async () => {
      if (revealed) show(diff, false);
      else show(await get(`${statePath(state)}/diff`, { from: diff.from, to: diff.to, reveal: true }), true);
      page.querySelector("button").focus();
    };
    page.replaceChildren(
      h("h2", { id: "diff", tabindex: "-1" }, `Version ${diff.from} → version ${diff.to}`),
      h("p", { class: "tools" }, tally("added", added), tally("removed", removed), tally("changed", changed), h("a", { href: stateLink(state, "versions") }, "Choose other versions")),
      hidden || revealed ? h("p", { class: "tools" }, actingButton(revealed ? "Hide secrets" : "Reveal secrets", null, toggle), h("span", { class: "quiet" }, "The audit log has each look at secrets.")) : "",
      changesList(shown.changes),
    );
  };
  show(diff, false);
  return page;
}

function changesList(changes) {
  if (changes.length === 0) return h("p", {}, "Nothing differs in meaning.");
  const list = h("div", {}, changes.slice(0, CHANGES).map(changeBox));
  let shown = Math.min(CHANGES, changes.length);
  const told = h("span", { class: "quiet", role: "status" });
  const more = h("button", { type: "button" }, "Show more");
  const tell = () => {
    told.textContent = `${count(shown)} of ${count(changes.length)} shown`;
    more.hidden = shown >= changes.length;
  };
  more.addEventListener("click", () => {
    list.append(...changes.slice(shown, shown + CHANGES).map(changeBox));
    shown = Math.min(shown + CHANGES, changes.length);
    tell();
  });
  tell();
  return h("div", {}, list, h("div", { class: "more" }, told, more));
}

function changeBox(change) {
  const [sign, kind] = SIGNS[change.change] ?? ["?", "quiet"];
  const subject = change.address ?? change.name ?? "";
  const what = `${change.kind.replaceAll("_", " ")}${change.deposed_key ? ` ${change.deposed_key}` : ""}`;
  const columns = ["Member", "Before", "After"];
  const rows = change.fields.map((field) => row(columns, [code(field.path), side(field, "before"), side(field, "after")]));
  return h(
    "article",
    { class: `change ${kind}` },
    h("h3", {}, chip(kind, `${sign} ${change.change}`), " ", subject && [code(subject), " "], h("span", { class: "quiet" }, what)),
    rows.length > 0 && table(`What differs in ${visible(subject || what)}`, columns, rows),
  );
}

function side(field, name) {
  if (field[`${name}_sensitive`]) return chip("quiet", "hidden");
  if (field[name] === undefined) return h("span", { class: "quiet" }, "absent");
  const text = writeJson(field[name]);
  return text.includes("\n") ? pre(text, `${name} of ${visible(field.path)}`) : code(text);
}
