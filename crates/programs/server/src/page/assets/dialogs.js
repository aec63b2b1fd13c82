// Dialogs that say what is about to happen, ask why, and show what the server refused.

import { Problem } from "./api.js";
import { h } from "./dom.js";

/**
 * Asks for a confirmation with a reason. `run(reason, form)` does the work; what it throws is shown, and the dialog stays.
 * Resolves to whether it was done. Escape and "Cancel" leave everything as it is.
 */
export function confirmWithReason({ title, facts, action, why, extra, run }) {
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const reason = h("textarea", { id: "reason", name: "reason", rows: "2", required: true, maxlength: "1000", "aria-describedby": "reason-why" });
  const submit = h("button", { type: "submit", class: "danger" }, action);
  const form = h(
    "form",
    { method: "dialog" },
    h("h2", { id: "dialog-title" }, title),
    h("div", { class: "facts" }, facts),
    h("label", { for: "reason" }, "Reason"),
    reason,
    h("p", { id: "reason-why", class: "quiet" }, why),
    extra,
    problem,
    h("div", { class: "buttons" }, h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"), submit),
  );
  const dialog = h("dialog", { "aria-labelledby": "dialog-title" }, form);
  let busy = false;
  let done = false;

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (busy) return;
    reason.setCustomValidity(reason.value.trim() ? "" : "give a reason");
    if (!form.reportValidity()) return;
    busy = true;
    submit.disabled = true;
    problem.hidden = true;
    try {
      await run(reason.value.trim(), form);
      done = true;
      dialog.close();
    } catch (error) {
      problem.replaceChildren(...problemText(error));
      problem.hidden = false;
    } finally {
      busy = false;
      submit.disabled = false;
    }
  });
  reason.addEventListener("input", () => reason.setCustomValidity(""));
  // What was sent cannot be stopped, so the dialog stays until the answer is there.
  dialog.addEventListener("cancel", (event) => busy && event.preventDefault());

  document.body.append(dialog);
  dialog.showModal();
  reason.focus();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(done);
    });
  });
}

/** What a problem says, as nodes. A defect of the page is told as such. */
export function problemText(error) {
  const isProblem = error instanceof Problem;
  const title = isProblem ? error.title : "there is a defect in this page";
  const nodes = [h("strong", {}, title)];
  if (error.message && error.message !== title) nodes.push(h("span", {}, ` ${error.message}`));
  return nodes;
}
