/** The check of the transports that the host application passes to the engine. */
import type * as z from "zod";
import {
  callAdvice,
  channels,
  dayMs,
  hasMethods,
  memberOf,
  option,
  quoted,
  show,
  type Mode,
} from "../../kernel/index.ts";
import type { Transport } from "../../ports/index.ts";

export const transport = option<Transport>(
  "a transport with a name, capabilities and a method send",
  isTransport,
  { advice: adviceOn },
).superRefine(checkTransport);

/** Names what a wrong transport lacks. */
function adviceOn(given: unknown): string {
  if (typeof given === "function") return callAdvice;
  if (typeof given !== "object" || given === null) return "";
  const missing = [
    ...(typeof memberOf(given, "name") === "string" ? [] : ["name"]),
    ...(typeof memberOf(given, "capabilities") === "object" ? [] : ["capabilities"]),
    ...(hasMethods(given, "send") ? [] : ["send"]),
  ];
  return missing.length === 0 ? "" : `. Missing or wrong: ${missing.join(", ")}`;
}

/** Returns the names of the transports, or no names if one of them is no transport. */
export function transportNames(options: unknown): readonly string[] {
  const transports = memberOf(options, "transports");
  return Array.isArray(transports) && transports.every(isTransport)
    ? transports.map(({ name }) => name)
    : [];
}

function isTransport(value: unknown): value is Transport {
  const capabilities = memberOf(value, "capabilities");
  return (
    hasMethods(value, "send") &&
    typeof memberOf(value, "name") === "string" &&
    typeof capabilities === "object" &&
    capabilities !== null
  );
}

const modes: readonly Mode[] = ["sandbox", "live"];

/** A rule for a field of a transport. */
interface Rule {
  readonly path: readonly string[];
  readonly expected: string;
  readonly got: string;
  readonly holds: boolean;
}

/** The compiler has checked these fields only if the host application uses TypeScript. */
function rulesFor(given: Transport): readonly Rule[] {
  const { name, capabilities } = given;
  const { receipts, confirms_opt_outs } = capabilities;
  return [
    {
      path: ["name"],
      expected:
        'a name of 1 to 64 letters, digits, "_", "-" and ".", and not only dots, for the path of ' +
        "its callbacks",
      got: show(name),
      // Clients resolve the segments "." and ".." of a path.
      holds: /^(?!\.+$)[\w.-]{1,64}$/.test(name),
    },
    listRule(["capabilities", "channels"], channels, capabilities.channels),
    listRule(["capabilities", "modes"], modes, capabilities.modes),
    {
      path: ["capabilities", "confirms_opt_outs"],
      expected: "true or false",
      got: show(confirms_opt_outs),
      holds: typeof confirms_opt_outs === "boolean",
    },
    ...receiptRules(receipts, typeof given.lookup === "function"),
    ...optionalMethods.map((method) => methodRule(method, given[method])),
  ];
}

function listRule(path: readonly string[], all: readonly string[], value: unknown): Rule {
  const wrong = isList(value) ? value.filter((each) => all.every((one) => one !== each)) : [];
  return {
    path,
    expected: `a list of one or more of ${all.map(quoted).join(", ")}`,
    got: wrong.length > 0 ? `a list with ${show(wrong[0])}` : show(value),
    holds: isList(value) && value.length > 0 && wrong.length === 0,
  };
}

const optionalMethods = ["lookup", "parseCallback", "start", "stop"] as const;

const methodRule = (method: string, value: unknown): Rule => ({
  path: [method],
  expected: "a function, or nothing",
  got: show(value),
  holds: value === undefined || value === null || typeof value === "function",
});

/** The maximum receipt time, in milliseconds. A job that is due after it has a valid date. */
const maxTimeMs = 3_650 * dayMs;

const receiptsPath = ["capabilities", "receipts"];

/** `receipts` is what the host application passed, whatever its type says. */
function receiptRules(receipts: unknown, canLookUp: boolean): readonly Rule[] {
  if (receipts === "none") return [];
  if (typeof receipts !== "object" || receipts === null) {
    const expected = '"none" or { timeout_ms, lookups_ms }';
    return [{ path: receiptsPath, expected, got: show(receipts), holds: false }];
  }
  const timeout: unknown = memberOf(receipts, "timeout_ms");
  const lookups: unknown = memberOf(receipts, "lookups_ms");
  const path = [...receiptsPath, "lookups_ms"];
  const timeoutRule = timeRule([...receiptsPath, "timeout_ms"], timeout);
  if (!isList(lookups)) {
    const expected = "a list of times in ascending order, in whole milliseconds";
    return [timeoutRule, { path, expected, got: show(lookups), holds: false }];
  }
  return [
    timeoutRule,
    {
      path,
      expected: "an empty list, because the transport has no method lookup",
      got: show(lookups),
      holds: canLookUp || lookups.length === 0,
    },
    ...lookups.flatMap((time, i) => [
      timeRule([...path, String(i)], time),
      {
        path: [...path, String(i)],
        expected: `a time up to timeout_ms, which is ${show(timeout)}`,
        got: show(time),
        holds: !(Number(time) > Number(timeout)),
      },
      {
        path: [...path, String(i)],
        expected: "times in ascending order",
        got: `${show(time)} after ${show(lookups[i - 1])}`,
        holds: i === 0 || !(Number(time) <= Number(lookups[i - 1])),
      },
    ]),
  ];
}

const timeRule = (path: readonly string[], time: unknown): Rule => ({
  path,
  expected: `a time in whole milliseconds, from 0 to ${maxTimeMs} (3,650 days)`,
  got: show(time),
  holds: Number.isInteger(time) && Number(time) >= 0 && Number(time) <= maxTimeMs,
});

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

function checkTransport(given: Transport, context: z.RefinementCtx): void {
  for (const { path, expected, got, holds } of rulesFor(given)) {
    if (holds) continue;
    context.addIssue({ code: "custom", path: [...path], message: expected, params: { got } });
  }
  const { capabilities } = given;
  refuseOthers(["capabilities"], capabilities, capabilityNames, context);
  refuseOthers(receiptsPath, capabilities.receipts, ["timeout_ms", "lookups_ms"], context);
}

const capabilityNames = ["channels", "modes", "receipts", "confirms_opt_outs"];

function refuseOthers(
  path: readonly string[],
  value: unknown,
  known: readonly string[],
  context: z.RefinementCtx,
): void {
  if (typeof value !== "object" || value === null) return;
  const keys = Object.keys(value).filter((key) => !known.includes(key));
  if (keys.length === 0) return;
  // The message lists the known names, as that of `optionsObject`.
  context.addIssue({
    code: "unrecognized_keys",
    path: [...path],
    keys,
    message: known.join(", "),
  });
}
