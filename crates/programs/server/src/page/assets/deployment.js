// The state of a stack, without what is secret in it.

import { getUpTo, stackPath } from "./api.js";
import { Mark } from "./text.js";

/** How large a state may be that is shown. */
const MOST = 64 * 1024 * 1024;
/** The member by which values say that they are none of JSON: secrets above all. */
const SIGNATURE = "4dabf18193072939515e22adb298388d";
const KINDS = {
  c44067f5952c0a294b673a41bacd8c17: "asset",
  "0def7320c3a5731c473e5ecbe6d01bc7": "archive",
  "5cf8f73096256a8f31e491e813e4eb8e": "resource",
};
const ROOT = "pulumi:pulumi:Stack";

/** What the newest version of a stack has. */
export async function readDeployment(stack, signal) {
  const { deployment } = await getUpTo(MOST, `${stackPath(stack)}/export`, signal);
  const list = (found) => (Array.isArray(found) ? found.filter((item) => item !== null && typeof item === "object") : []);
  return {
    resources: list(deployment?.resources),
    pending: list(deployment?.pending_operations),
    engine: text(deployment?.manifest?.version),
    secretsProvider: text(deployment?.secrets_providers?.type),
  };
}

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

/** The outputs of the stack itself. */
export function outputsOf({ resources }) {
  const root = resources.find((resource) => resource.type === ROOT && resource.delete !== true);
  return Object.entries(root?.outputs ?? {}).map(([name, value]) => ({ name, value: withoutSecrets(value) }));
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

/**
 * The resources in the order of a tree, each after its parent, with its depth. All are there: one whose parent is not, or is below
 * itself, begins a tree of its own and says so in `odd`.
 */
export function treeOf(resources) {
  const byUrn = new Map();
  // One that waits to be deleted has the URN of what replaced it, and children belong to the latter.
  for (const resource of resources) {
    const urn = text(resource.urn);
    if (!byUrn.has(urn) || byUrn.get(urn).delete === true) byUrn.set(urn, resource);
  }
  const children = new Map();
  const roots = [];
  for (const resource of resources) {
    const parent = byUrn.get(text(resource.parent));
    if (!resource.parent) roots.push({ resource });
    else if (!parent) roots.push({ resource, odd: "its parent is missing" });
    else if (children.has(parent)) children.get(parent).push(resource);
    else children.set(parent, [resource]);
  }
  const rows = [];
  const seen = new Set();
  const walk = (root) => {
    const left = [{ ...root, depth: 0 }];
    while (left.length > 0) {
      const item = left.pop();
      if (seen.has(item.resource)) continue;
      seen.add(item.resource);
      rows.push(item);
      for (const resource of (children.get(item.resource) ?? []).toReversed()) left.push({ resource, depth: item.depth + 1 });
    }
  };
  roots.forEach(walk);
  resources.filter((resource) => !seen.has(resource)).forEach((resource) => seen.has(resource) || walk({ resource, odd: "it is its own parent" }));
  return rows;
}
