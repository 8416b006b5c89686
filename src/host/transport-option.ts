/** The check of the transports that the host application passes to the engine. */
import type * as z from "zod";
import {
  channels,
  dayMs,
  hasMethods,
  memberOf,
  type Mode,
  option,
  quoted,
  show,
} from "../kernel/index.ts";
import type { Transport } from "../ports/index.ts";

export const transport = option<Transport>(
  "a transport with a name, capabilities and a method send",
  isTransport,
).superRefine(checkTransport);

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
    {
      path: ["capabilities", "receipts"],
      expected:
        '"none" or { timeout_ms, lookups_ms }, with times in whole milliseconds, up to 3,650 days',
      got: show(receipts),
      holds: receipts === "none" || areReceiptTimes(receipts),
    },
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

const isTime = (value: unknown): boolean =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= maxTimeMs;

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

function areReceiptTimes(value: unknown): boolean {
  const lookups = memberOf(value, "lookups_ms");
  return isTime(memberOf(value, "timeout_ms")) && isList(lookups) && lookups.every(isTime);
}

function checkTransport(given: Transport, context: z.RefinementCtx): void {
  for (const { path, expected, got, holds } of rulesFor(given)) {
    if (holds) continue;
    context.addIssue({ code: "custom", path: [...path], message: expected, params: { got } });
  }
}
