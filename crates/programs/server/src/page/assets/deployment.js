// Values and names in the state of a stack, without what is secret in it.

import { Mark } from "./text.js";

/** The member by which values say that they are none of JSON: secrets above all. */
const SIGNATURE = "4dabf18193072939515e22adb298388d";
const KINDS = {
  c44067f5952c0a294b673a41bacd8c17: "asset",
  "0def7320c3a5731c473e5ecbe6d01bc7": "archive",
  "5cf8f73096256a8f31e491e813e4eb8e": "resource",
};

/** A member that should be a text. */
export function text(found) {
  return typeof found === "string" ? found : "";
}

/** A value in which nothing is left of secrets, and of files and references to resources no more than what they are. */
export function withoutSecrets(value) {
  if (value === null || typeof value !== "object" || value instanceof Mark) return value;
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (!Object.hasOwn(value, SIGNATURE)) return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutSecrets(member)]));
  const signature = value[SIGNATURE];
  // A signature that is not known may be of a secret too.
  return new Mark(typeof signature === "string" && Object.hasOwn(KINDS, signature) ? KINDS[signature] : "secret");
}

/** The name in a URN. */
export function urnName(urn) {
  const parts = urn.split("::");
  return parts.length > 3 ? parts.slice(3).join("::") : urn;
}

/** The type in a URN, without those of its parents. */
export function urnType(urn) {
  return urn.split("::")[2]?.split("$").pop() ?? "";
}
