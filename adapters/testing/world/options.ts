import {
  functionOption,
  hasMethods,
  memberOf,
  option,
  optionsObject,
  parseOptions,
  portOption,
  wholeOption,
} from "../../../src/kernel/index.ts";
import type { StoragePort } from "../../../src/ports/index.ts";
import type { ScriptedModel } from "../model/scripted-model.ts";
import type { ScriptedReceiver } from "../receiver/scripted-receiver.ts";
import { isTime, type Time } from "../simulated.ts";
import type { MakeEngine } from "./engine-process.ts";
import { faultNames, type FaultRates } from "./faults.ts";
import type { WorldObserver } from "./run-context.ts";
import type { WorldOptions } from "./types.ts";

const maxEngines = 9;

/** Options with their defaults. */
export type CheckedOptions<Tx extends object | undefined> = WorldOptions<Tx> & {
  readonly [K in "seed" | "engines" | "faults" | "observe"]: NonNullable<WorldOptions<Tx>[K]>;
};

function isRates(given: unknown): boolean {
  if (given === "any") return true;
  return (
    typeof given === "object" &&
    given !== null &&
    Object.entries(given).every(
      ([name, rate]) =>
        faultNames.some((each) => each === name) &&
        typeof rate === "number" &&
        rate >= 0 &&
        rate <= 1,
    )
  );
}

const optionsSchema = optionsObject(
  {
    seed: option<number>("a number", (given) => typeof given === "number").default(1),
    storage: option<StoragePort>(
      "a storage that reads synchronously: memory() or sqlite({ file })",
      (given) =>
        hasMethods(given, "begin", "open", "close") &&
        memberOf(memberOf(given, "capabilities"), "synchronous") === true,
    ),
    transports: option<WorldOptions["transports"]>(
      "a list of scriptedCarrier() or functions that make a transport, at least one",
      (given) => Array.isArray(given) && given.length > 0,
    ),
    receiver: portOption<ScriptedReceiver>(
      "a scriptedReceiver()",
      "trust",
      "requestsOf",
    ).optional(),
    model: portOption<ScriptedModel>("a scriptedModel()", "respond").optional(),
    engines: wholeOption(1, maxEngines).default(1),
    engine: functionOption<MakeEngine>().optional(),
    faults: option<"any" | Partial<FaultRates>>(
      'the word "any", or an object with the names of faults and their rates from 0 to 1',
      isRates,
    ).default({}),
    start: option<Time>("a time in ISO 8601 or milliseconds, or a Date", isTime, {
      isQuoted: true,
    }).optional(),
    observe: option<WorldObserver>(
      "an object with functions",
      (given) => typeof given === "object" && given !== null,
    ).default({}),
  },
  "{ storage, transports }",
);

/** @throws TidingsError `invalid_option` when an option is wrong or unknown */
export function checkOptions<Tx extends object | undefined>(
  options: WorldOptions<Tx>,
): CheckedOptions<Tx> {
  const checked = parseOptions("world: ", optionsSchema, options);
  const { seed, engines, faults, observe } = checked;
  return { ...options, seed, engines, faults, observe };
}
