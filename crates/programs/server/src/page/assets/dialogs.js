// Dialogs that say what is about to happen, ask why, and show what the server refused.

import { Problem } from "./api.js";
import { h } from "./dom.js";

/** Answers that tell that the page shows what is not so any more. */
const STALE = [404, 409, 412, 423];

/**
 * Asks for a confirmation with a reason. `run(reason, form)` does the work; what it throws is shown, and the dialog stays.
 * Resolves to whether it was done, and whether the page is to be read anew. Escape and "Cancel" leave everything as it is.
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
  const outcome = { done: false, stale: false };

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
      outcome.done = true;
      outcome.stale = true;
      dialog.close();
    } catch (error) {
      if (STALE.includes(error.status)) outcome.stale = true;
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
      resolve(outcome);
    });
  });
}

/** A button that does something which may fail, and the place where it says why. What `act` does may replace both. */
export function actingButton(text, label, act) {
  const problem = h("span", { class: "problem", role: "alert", hidden: true });
  const button = h("button", { type: "button", "aria-label": label }, text);
  button.addEventListener("click", async () => {
    button.disabled = true;
    problem.hidden = true;
    try {
      await act();
    } catch (error) {
      problem.replaceChildren(...problemText(error));
      problem.hidden = false;
    } finally {
      button.disabled = false;
    }
  });
  return [button, problem];
}

/** What a problem says, as nodes. A defect of the page is told as such. */
export function problemText(error) {
  const isProblem = error instanceof Problem;
  const title = isProblem ? error.title : "there is a defect in this page";
  if (!error.message || error.message === title) return [h("strong", {}, title)];
  return [h("strong", {}, `${title}:`), h("span", {}, ` ${error.message}`)];
}
