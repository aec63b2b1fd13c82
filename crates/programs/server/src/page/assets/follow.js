// Looking again and again at what changes by itself.

import { problemText } from "./dialogs.js";

/** How long to wait between two looks, in milliseconds. */
const EVERY = 2000;

/** Looks until there is nothing more to see, and shows what goes wrong meanwhile; what does not pass ends it. */
export async function repeat(look, signal, problem, every = EVERY) {
  while (!signal.aborted) {
    try {
      const goesOn = await look();
      if (problem) problem.hidden = true;
      if (!goesOn) return;
    } catch (error) {
      if (error.name === "AbortError") return;
      if (problem) {
        problem.replaceChildren(...problemText(error));
        problem.hidden = false;
      }
      const isPassing = error.status === 0 || error.status === 429 || error.status >= 500;
      if (!isPassing) return;
    }
    await new Promise((resolve) => setTimeout(resolve, every));
  }
}
