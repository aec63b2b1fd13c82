// Elements. Text gets into the page by text nodes only.

import { ago, count, splitInvisible, visible } from "./text.js";

/** An element with attributes, listeners (`on…`) and children: nodes, texts, lists of them; null and false are left out. */
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "value") element.value = value;
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    if (child instanceof Node) element.append(child);
    else element.append(...shown(child));
  }
}

/** The nodes of a text that came from elsewhere. */
function shown(text, multiline = false) {
  return splitInvisible(String(text), multiline).map((part) => {
    if (!part.control) return document.createTextNode(part.text);
    const mark = document.createElement("span");
    mark.className = "control";
    mark.title = "a character that is not visible";
    mark.textContent = part.text;
    return mark;
  });
}

/** A text of one line in the type of code. */
export function code(text, attributes = {}) {
  return h("code", attributes, text);
}

/** A text of more lines in the type of code. It scrolls, so the keyboard reaches it. */
export function pre(text, label) {
  const element = h("pre", { tabindex: "0", "aria-label": label, role: "group" });
  element.append(...shown(text, true));
  return element;
}

/** A text of more lines among others. */
export function message(text) {
  const element = h("span", { class: "message" });
  element.append(...shown(text, true));
  return element;
}

/** A time: how long ago, and exactly when the pointer is over it. */
export function time(text) {
  return h("time", { datetime: visible(text), title: visible(text) }, ago(text));
}

/** A status: a colour and a word. */
export function chip(kind, ...children) {
  return h("span", { class: `chip ${kind}` }, ...children);
}

/** A table with a caption for screen readers, in a region that scrolls. Roles are told, because narrow screens show rows as cards. */
export function table(caption, columns, rows) {
  const head = columns.map((column) => h("th", { scope: "col", role: "columnheader" }, column));
  return h(
    "div",
    { class: "scroll", role: "region", "aria-label": caption, tabindex: "0" },
    h("table", { role: "table", "aria-label": caption }, h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, head)), h("tbody", { role: "rowgroup" }, rows)),
  );
}

/** A row whose cells say on narrow screens what column they are of. The first one names the row. */
export function row(columns, cells) {
  const [name, ...others] = cells;
  const cell = (content, at) => h("td", { role: "cell", "data-label": columns[at + 1] }, h("div", {}, content));
  return h("tr", { role: "row" }, h("th", { scope: "row", role: "rowheader" }, name), others.map(cell));
}

/** A table of many items: a part of them, and a button for more. */
export function grownTable(caption, columns, items, line) {
  const PART = 250;
  const grid = table(caption, columns, items.slice(0, PART).map(line));
  if (items.length <= PART) return grid;
  const body = grid.querySelector("tbody");
  const told = h("span", { class: "quiet", role: "status" });
  const more = h("button", { type: "button" }, "Show more");
  const tell = () => {
    const present = body.rows.length;
    told.textContent = `${count(present)} of ${count(items.length)} shown`;
    more.hidden = present >= items.length;
  };
  more.addEventListener("click", () => {
    body.append(...items.slice(body.rows.length, body.rows.length + PART).map(line));
    tell();
  });
  tell();
  return h("div", {}, grid, h("div", { class: "more" }, told, more));
}

/** Says something to people who look and to people who listen. */
export function announce(message) {
  const status = document.getElementById("status");
  status.textContent = visible(message);
  clearTimeout(announce.timer);
  announce.timer = setTimeout(() => {
    status.textContent = "";
  }, 8000);
}
