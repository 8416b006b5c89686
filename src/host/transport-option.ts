/** The check of the transports that the host application passes to the engine. */
import type * as z from "zod";
import {
  channels,
  describe,
  hasMethods,
  memberOf,
  type Mode,
  option,
  quoted,
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
  readonly value: unknown;
  readonly holds: boolean;
}

/** The compiler has checked these fields only if the host application uses TypeScript. */
function rulesFor({ name, capabilities }: Transport): readonly Rule[] {
  const { receipts, confirms_opt_outs } = capabilities;
  return [
    {
      path: ["name"],
      expected:
        'a name of 1 to 64 letters, digits, "_", "-" and ".", for the path of its callbacks',
      value: name,
      holds: /^[\w.-]{1,64}$/.test(name),
    },
    listRule(["capabilities", "channels"], channels, capabilities.channels),
    listRule(["capabilities", "modes"], modes, capabilities.modes),
    {
      path: ["capabilities", "confirms_opt_outs"],
      expected: "true or false",
      value: confirms_opt_outs,
      holds: typeof confirms_opt_outs === "boolean",
    },
    {
      path: ["capabilities", "receipts"],
      expected: '"none" or { timeout_ms, lookups_ms }, with times in milliseconds',
      value: receipts,
      holds: receipts === "none" || areReceiptTimes(receipts),
    },
  ];
}

const listRule = (path: readonly string[], all: readonly string[], value: unknown): Rule => ({
  path,
  expected: `a list of some of ${all.map(quoted).join(", ")}`,
  value,
  holds:
    isList(value) && value.length > 0 && value.every((each) => all.some((one) => one === each)),
});

const isTime = (value: unknown): boolean => typeof value === "number" && value >= 0;

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

function areReceiptTimes(value: unknown): boolean {
  const lookups = memberOf(value, "lookups_ms");
  return isTime(memberOf(value, "timeout_ms")) && isList(lookups) && lookups.every(isTime);
}

function checkTransport(given: Transport, context: z.RefinementCtx): void {
  for (const { path, expected, value, holds } of rulesFor(given)) {
    if (holds) continue;
    const got = typeof value === "string" ? quoted(value) : describe(value);
    context.addIssue({ code: "custom", path: [...path], message: expected, params: { got } });
  }
}
