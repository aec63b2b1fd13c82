// The list of states, and the list of locks.

import { get } from "./api.js";
import { chip, code, h, row, table, time } from "./dom.js";
import { count, duration, exact, visible } from "./text.js";

/** The link to a page of a state. */
export function stateLink({ project, state, workspace }, tab = "") {
  const path = ["states", project, state, workspace, tab].filter(Boolean).map(encodeURIComponent);
  return `#/${path.join("/")}`;
}

/** The name of a state: the workspace `default` is left out, as in Terraform's URLs. */
export function stateName({ project, state, workspace }) {
  return workspace === "default" ? `${project}/${state}` : `${project}/${state}/${workspace}`;
}

/** Whether a state is locked, and by whom. */
export function lockChip(lock) {
  if (!lock) return chip("quiet", "unlocked");
  return chip("warn", `locked by ${lock.who || lock.by}`);
}

const COLUMNS = ["State", "Serial", "Resources", "Changed", "By", "Terraform", "Lock"];

function stateRow(item) {
  const version = item.version;
  const cells = [
    h("a", { href: stateLink(item) }, code(stateName(item))),
    version?.serial === undefined ? "–" : code(exact(version.serial)),
    version?.resources === undefined ? "–" : count(version.resources),
    version ? time(version.time) : "–",
    version ? version.by : "–",
    version?.terraform_version ?? "–",
    [item.lock ? lockChip(item.lock) : "–", !version && chip("bad", item.last_version === 0 ? "never written" : "deleted"), version?.encrypted && chip("quiet", "encrypted")],
  ];
  return row(COLUMNS, cells);
}

/** Rows that arrive page by page, with a button for more. `read(after, signal)` gives `{ rows, next }`. */
export function pages(caption, columns, empty, { read, signal, fail }) {
  const listed = h("div", { "aria-busy": "true" }, h("p", { class: "quiet" }, "Loading …"));
  let run = new AbortController();
  signal.addEventListener("abort", () => run.abort());

  async function load() {
    run.abort();
    run = new AbortController();
    const mine = run.signal;
    listed.setAttribute("aria-busy", "true");
    try {
      const page = await read(undefined, mine);
      if (!mine.aborted && !signal.aborted) show(page, mine);
    } catch (error) {
      if (error.name !== "AbortError") fail(error);
    }
  }

  function show({ rows, next }, mine) {
    const grid = table(caption, columns, rows);
    const body = grid.querySelector("tbody");
    const told = h("p", { class: "quiet", role: "status" });
    const more = h("button", { type: "button" }, "Show more");
    let after = next;
    const tell = () => {
      const shown = body.rows.length;
      grid.hidden = shown === 0;
      more.hidden = !after;
      told.textContent = shown === 0 && !after ? empty : `${count(shown)} shown${after ? ", more to come" : ""}`;
    };
    more.addEventListener("click", async () => {
      more.disabled = true;
      try {
        const page = await read(after, mine);
        if (mine.aborted) return;
        body.append(...page.rows);
        after = page.next;
        tell();
      } catch (error) {
        if (error.name !== "AbortError") fail(error);
      } finally {
        more.disabled = false;
      }
    });
    tell();
    listed.replaceChildren(grid, h("div", { class: "more" }, told, more));
    listed.setAttribute("aria-busy", "false");
  }

  return { node: listed, load };
}

/** A field whose text filters a list while it is typed. */
export function searchField(label, text, changed) {
  let timer;
  const field = h("input", { type: "search", value: text ?? "", "aria-label": label, placeholder: label, autocomplete: "off", spellcheck: "false", "data-search": true });
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => changed(field.value.trim()), 250);
  });
  return field;
}

export async function statesView({ query, setQuery, signal, fail }) {
  const { projects } = await get("/api/v1/projects", {}, signal);
  const filter = { project: query.get("project") ?? "", search: query.get("search") ?? "", deleted: query.get("deleted") ?? "" };
  const read = async (after, mine) => {
    const { states, next } = await get("/api/v1/states", { ...filter, after, limit: 200 }, mine);
    return { rows: states.map(stateRow), next };
  };
  const list = pages("States", COLUMNS, "no state matches", { read, signal, fail });
  const change = (member, value) => {
    filter[member] = value;
    setQuery(filter);
    list.load();
  };
  const options = projects.map((project) => h("option", { value: project, selected: project === filter.project }, visible(project)));
  const tools = h(
    "form",
    { class: "tools", role: "search", onsubmit: (event) => event.preventDefault() },
    h("label", {}, "Project ", h("select", { onchange: (event) => change("project", event.target.value) }, h("option", { value: "" }, "all"), options)),
    searchField("Search states", filter.search, (text) => change("search", text)),
    h("label", { class: "check" }, h("input", { type: "checkbox", checked: filter.deleted === "true", onchange: (event) => change("deleted", event.target.checked ? "true" : "") }), " deleted too"),
  );
  list.load();
  return { title: "States", section: "states", content: [h("h1", { tabindex: "-1" }, "States"), tools, list.node] };
}

export async function projectsView({ query, setQuery, signal }) {
  const { projects } = await get("/api/v1/projects", {}, signal);
  const list = h("ul", { class: "names" });
  const told = h("p", { class: "quiet", role: "status" });
  const show = (search) => {
    const found = projects.filter((project) => project.toLowerCase().includes(search.toLowerCase()));
    list.replaceChildren(...found.map((project) => h("li", {}, h("a", { href: `#/?${new URLSearchParams({ project })}` }, code(project)))));
    told.textContent = found.length === 0 ? "no project matches" : `${count(found.length)} ${found.length === 1 ? "project" : "projects"}`;
  };
  const search = query.get("search") ?? "";
  const field = searchField("Search projects", search, (text) => {
    setQuery({ search: text });
    show(text);
  });
  show(search);
  return {
    title: "Projects",
    section: "projects",
    content: [h("h1", { tabindex: "-1" }, "Projects"), h("form", { class: "tools", role: "search", onsubmit: (event) => event.preventDefault() }, field), list, told],
  };
}

const LOCK_COLUMNS = ["State", "Holder", "For", "Held", "Taken by", "Id"];

export async function locksView({ query, setQuery, signal, fail }) {
  const filter = { search: query.get("search") ?? "" };
  const lockRow = (item) =>
    row(LOCK_COLUMNS, [
      h("a", { href: stateLink(item) }, code(stateName(item))),
      chip("warn", item.lock.who || "not told"),
      item.lock.operation || "–",
      h("span", { title: visible(item.lock.taken) }, duration(item.lock.age_seconds)),
      item.lock.by,
      code(item.lock.id),
    ]);
  const read = async (after, mine) => {
    const { locks, next } = await get("/api/v1/locks", { ...filter, after, limit: 200 }, mine);
    return { rows: locks.map(lockRow), next };
  };
  const list = pages("Locks", LOCK_COLUMNS, "no state is locked", { read, signal, fail });
  const field = searchField("Search locks", filter.search, (text) => {
    filter.search = text;
    setQuery(filter);
    list.load();
  });
  list.load();
  return {
    title: "Locks",
    section: "locks",
    content: [h("h1", { tabindex: "-1" }, "Locks"), h("form", { class: "tools", role: "search", onsubmit: (event) => event.preventDefault() }, field), list.node],
  };
}
