// Text of states for people: lossless numbers, visible control characters, times.

/** What stands in JSON as this text, without quotes. */
export class Mark {
  constructor(text) {
    this.text = text;
  }
}

/** A number of JSON that JavaScript's numbers do not have exactly. */
export class ExactNumber extends Mark {}

// The name of a member that no document has by design: it is new each time that the page is loaded.
const EXACT = "exact-number-" + crypto.getRandomValues(new Uint32Array(4)).join("-");
const STRINGS_AND_NUMBERS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g;

/** Parses JSON; a number that would change becomes an `ExactNumber`. */
export function parseJson(text) {
  const isExact = (token) => token.startsWith('"') || String(Number(token)) === token;
  const wrapped = text.replace(STRINGS_AND_NUMBERS, (token) => (isExact(token) ? token : `{"${EXACT}":"${token}"}`));
  return JSON.parse(wrapped, (_, value) =>
    value !== null && typeof value === "object" && Object.hasOwn(value, EXACT) ? new ExactNumber(value[EXACT]) : value,
  );
}

/** Writes a value as JSON: short ones in one line, others indented. */
export function writeJson(value, indent = "") {
  if (value instanceof Mark) return value.text;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const isList = Array.isArray(value);
  const items = isList
    ? value.map((item) => writeJson(item, indent + "  "))
    : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${writeJson(item, indent + "  ")}`);
  const [open, close] = isList ? "[]" : "{}";
  if (items.length === 0) return open + close;
  const line = items.join(", ");
  if (line.length <= 60 && !line.includes("\n")) return `${open}${line}${close}`;
  return `${open}\n${items.map((item) => `${indent}  ${item}`).join(",\n")}\n${indent}${close}`;
}

// Control characters, marks that turn the direction of text, characters without a width, and halves of pairs.
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029\ufffc\u{e0000}-\u{e0fff}]/u;

/** Splits a text into visible parts and characters that are not. Line breaks are visible in `multiline` texts. */
export function splitInvisible(text, multiline = false) {
  if (!INVISIBLE.test(text)) return [{ text, control: false }];
  const parts = [];
  let plain = "";
  for (const char of text) {
    if (!INVISIBLE.test(char) || (multiline && char === "\n")) {
      plain += char;
      continue;
    }
    if (plain) parts.push({ text: plain, control: false });
    plain = "";
    const code = char.codePointAt(0).toString(16);
    parts.push({ text: code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`, control: true });
  }
  if (plain) parts.push({ text: plain, control: false });
  return parts;
}

/** A text with each invisible character as its escape, where elements cannot be: titles, options, messages. */
export function visible(text) {
  return splitInvisible(String(text)).map((part) => part.text).join("");
}

const UNITS = [
  ["year", 31557600],
  ["month", 2629800],
  ["day", 86400],
  ["hour", 3600],
  ["minute", 60],
];
const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "always", style: "long" });

/** How long ago a time is, in words. */
export function ago(time) {
  const seconds = (Date.parse(time) - Date.now()) / 1000;
  if (Number.isNaN(seconds)) return visible(time);
  for (const [unit, length] of UNITS) {
    if (Math.abs(seconds) >= length) return RELATIVE.format(Math.round(seconds / length), unit);
  }
  return seconds > 5 ? "in less than a minute" : "just now";
}

/** A length in seconds, in words. */
export function duration(seconds) {
  const unit = UNITS.find(([, length]) => seconds >= length);
  if (!unit) return `${seconds} s`;
  const count = Math.floor(seconds / unit[1]);
  return `${count} ${unit[0]}${count === 1 ? "" : "s"}`;
}

/** A number with its thousands apart. */
export function count(number) {
  return number instanceof ExactNumber ? number.text : Number(number).toLocaleString("en");
}

/** A number of bytes. */
export function size(bytes) {
  const units = ["B", "KiB", "MiB", "GiB"];
  let unit = 0;
  let value = Number(bytes);
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

/** A serial or another whole number, as the state has it. */
export function exact(number) {
  return number instanceof ExactNumber ? number.text : String(number);
}
