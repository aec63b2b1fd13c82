// The resources of a state, and one of them with its attributes.

import { get, statePath } from "./api.js";
import { actingButton } from "./dialogs.js";
import { chip, code, h, row, table } from "./dom.js";
import { facts, frame, value } from "./state.js";
import { searchField, stateLink } from "./states.js";
import { count, exact, visible } from "./text.js";

const PAGE = 250;
const RESOURCE_COLUMNS = ["Address", "Type", "Mode"];

export async function resourcesView({ state, query, setQuery, signal, fail }) {
  const filter = { search: query.get("search") ?? "", offset: Math.max(0, Number.parseInt(query.get("offset") ?? "0", 10) || 0) };
  const list = h("div", {});
  let run = new AbortController();
  signal.addEventListener("abort", () => run.abort());

  const read = (mine) => get(`${statePath(state)}/resources`, { ...filter, limit: PAGE }, mine);
  const load = async () => {
    run.abort();
    run = new AbortController();
    const mine = run.signal;
    list.setAttribute("aria-busy", "true");
    try {
      const page = await read(mine);
      if (!mine.aborted) show(page);
    } catch (error) {
      if (error.name !== "AbortError") fail(error);
    }
  };
  const turn = (offset) => {
    filter.offset = offset;
    setQuery({ ...filter, offset: offset || "" });
    return load();
  };
  const show = ({ total, resources }) => {
    const rows = resources.map((item) => row(RESOURCE_COLUMNS, [h("a", { href: resourceLink(state, item.address) }, code(item.address)), code(item.type), item.mode]));
    const first = resources.length ? filter.offset + 1 : 0;
    const last = filter.offset + resources.length;
    const range = total === 0 ? (filter.search ? "no address has this text" : "the state has no resources") : `${count(first)} to ${count(last)} of ${count(total)} instances`;
    const end = Math.max(0, Math.floor((total - 1) / PAGE) * PAGE);
    const go = (label, offset, enabled) => h("button", { type: "button", disabled: !enabled, onclick: () => turn(offset) }, label);
    const pager = h(
      "nav",
      { class: "more", "aria-label": "Pages of resources" },
      h("span", { role: "status" }, range),
      go("First", 0, filter.offset > 0),
      go("Previous", Math.max(0, filter.offset - PAGE), filter.offset > 0),
      go("Next", filter.offset + PAGE, last < total),
      go("Last", end, last < total),
    );
    list.replaceChildren(pager, rows.length > 0 ? table("Resources", RESOURCE_COLUMNS, rows) : "");
    list.setAttribute("aria-busy", "false");
  };

  const field = searchField("Search addresses", filter.search, (text) => {
    filter.search = text;
    turn(0);
  });
  show(await read(signal));
  return frame(state, "resources", [h("form", { class: "tools", role: "search", onsubmit: (event) => event.preventDefault() }, field), list]);
}

function resourceLink(state, address) {
  return `${stateLink(state, "resource")}?${new URLSearchParams({ address })}`;
}

export async function resourceView({ state, query, signal }) {
  const address = query.get("address") ?? "";
  const read = (more) => get(`${statePath(state)}/resource`, { address, ...more }, signal);
  const page = h("section", { "aria-labelledby": "resource" });
  const hidden = await read();
  show(state, page, { shown: hidden, revealed: false, reveal: () => read({ version: exact(hidden.version), reveal: true }), hidden });
  return frame(state, "resources", page, visible(address));
}

function show(state, page, view) {
  const { shown, revealed } = view;
  const { resource, objects, provider } = shown;
  const toggle = async () => {
    show(state, page, revealed ? { ...view, shown: view.hidden, revealed: false } : { ...view, shown: await view.reveal(), revealed: true });
    page.querySelector("button").focus();
  };
  const hasSecrets = objects.some((object) => object.members.some((member) => member.sensitive));
  page.replaceChildren(
    h("h2", { id: "resource" }, code(resource.address)),
    facts([
      ["Type", code(resource.type)],
      ["Mode", resource.mode],
      ["Provider", code(provider)],
      ["Version of the state", code(exact(shown.version))],
    ]),
    hasSecrets ? h("p", { class: "tools" }, actingButton(revealed ? "Hide secrets" : "Reveal secrets", null, toggle), h("span", { class: "quiet" }, "The audit log has each look at secrets.")) : "",
    ...objects.map(objectBox),
    objects.length === 0 ? h("p", {}, "The instance has no object.") : "",
  );
}

const MEMBER_COLUMNS = ["Member", "Value"];

function objectBox(object) {
  const deposed = object.deposed_key && `Deposed object ${object.deposed_key}`;
  const marks = [
    object.status !== "ready" && chip("warn", object.status),
    deposed && chip("warn", "waits to be destroyed"),
    chip("quiet", `schema ${exact(object.schema_version)}`),
    object.create_before_destroy && chip("quiet", "create before destroy"),
  ];
  const title = deposed || "Current object";
  const rows = object.members.map((member) => row(MEMBER_COLUMNS, [code(member.path.replace(/^attributes\./, "")), member.value === undefined ? chip("quiet", "hidden") : value(member.path, member.value)]));
  return h("article", { class: "object" }, h("h3", {}, title, " ", marks), rows.length > 0 ? table(title, MEMBER_COLUMNS, rows) : h("p", {}, "It has no attributes."));
}
