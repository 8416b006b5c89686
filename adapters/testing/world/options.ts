import * as z from "zod";
import {
  functionOption,
  hasMethods,
  memberOf,
  option,
  optionsObject,
  parseOptions,
  suggestion,
  wholeOption,
} from "../../../src/kernel/index.ts";
import type { StoragePort } from "../../../src/ports/index.ts";
import { scriptedCarriers } from "../carrier/scripted-carrier.ts";
import { scriptedModels, type ScriptedModel } from "../model/scripted-model.ts";
import { scriptedReceivers, type ScriptedReceiver } from "../receiver/scripted-receiver.ts";
import { timeOption } from "../simulated/virtual-clock.ts";
import type { MakeEngine, WorldTransport } from "./engine-process.ts";
import { faultNames, type Fault } from "./faults.ts";
import type { WorldObserver } from "./observer.ts";
import type { Finding, WorldOptions } from "./types.ts";

const maxEngines = 9;
const atLeastOne = "a list of at least one scriptedCarrier()";

/** Options with their defaults. */
export type CheckedOptions<Tx extends object | undefined> = WorldOptions<Tx> & {
  readonly [K in "seed" | "engines" | "faults" | "observe"]: NonNullable<WorldOptions<Tx>[K]>;
};

const rate = option<number>(
  "a rate from 0 to 1",
  (given) => typeof given === "number" && given >= 0 && given <= 1,
);

const rates = optionsObject(
  Object.fromEntries(faultNames.map((name) => [name, rate.optional()])),
  'the word "any", or an object with the names of faults and their rates from 0 to 1',
).default({});

const transport = option<WorldTransport>(
  "what scriptedCarrier() returns, or a function that makes a transport",
  (given) => typeof given === "function" || scriptedCarriers.has(given),
);

const schemaWith = <T extends z.ZodType>(faults: T) =>
  optionsObject({ ...optionsShape, faults }, "{ storage, transports }");

/**
 * The seed of each run of an engine is made of the world's seed. From some 2^53 / 10,000 on, these
 * would be equal, and so would the ids that the engines draw.
 */
const maxSeed = 900_000_000_000;

const optionsShape = {
  seed: option<number>(
    `a number from -${maxSeed} to ${maxSeed}`,
    (given) => typeof given === "number" && Math.abs(given) <= maxSeed,
  ).default(1),
  storage: option<StoragePort>(
    "a storage that reads synchronously: memory() or sqlite({ file })",
    (given) =>
      hasMethods(given, "begin", "open", "close") &&
      memberOf(memberOf(given, "capabilities"), "synchronous") === true,
  ),
  transports: z.array(transport, { error: atLeastOne }).min(1, { error: atLeastOne }),
  receiver: option<ScriptedReceiver>("what scriptedReceiver() returns", (given) =>
    scriptedReceivers.has(given),
  ).optional(),
  model: option<ScriptedModel>("what scriptedModel() returns", (given) =>
    scriptedModels.has(given),
  ).optional(),
  engines: wholeOption(1, maxEngines).default(1),
  engine: functionOption<MakeEngine>().optional(),
  start: timeOption.optional(),
  observe: option<WorldObserver>(
    "an object with functions",
    (given) => typeof given === "object" && given !== null,
  ).default({}),
};

const withAnyFault = schemaWith(option<"any">('the word "any"', (given) => given === "any"));
const withRates = schemaWith(rates);

/** @throws TidingsError `invalid_option` when an option is wrong or unknown */
export function checkOptions<Tx extends object | undefined>(
  options: WorldOptions<Tx>,
): CheckedOptions<Tx> {
  const isAny = memberOf(options, "faults") === "any";
  const checked = isAny
    ? parseOptions("world: ", withAnyFault, options)
    : parseOptions("world: ", withRates, options);
  const { seed, engines, faults, observe } = checked;
  return { ...options, seed, engines, faults, observe };
}

const faultArgument = optionsObject({
  fault: option<Fault>(
    "the name of a fault",
    (given) => faultNames.some((name) => name === given),
    {
      isQuoted: true,
      advice: (given) => suggestion(String(given), faultNames),
    },
  ),
});

const findingArgument = optionsObject({
  result: option<Finding | string | undefined>(
    "nothing, a sentence or { description, about }",
    (given) => given === undefined || typeof given === "string" || hasDescription(given),
  ),
});

/** Checks with `in` first: what an assertion returns may throw for unknown members. */
function hasDescription(given: unknown): boolean {
  const isThere = typeof given === "object" && given !== null && "description" in given;
  return isThere && typeof given.description === "string";
}

/** @throws TidingsError `invalid_option` when a law returned something else */
export function checkFinding(
  law: string,
  result: unknown,
): asserts result is Finding | string | undefined {
  parseOptions(`check: ${law === "" ? "law" : law}: `, findingArgument, { result });
}

/** @throws TidingsError `invalid_option` when there is no such fault */
export function checkFault(fault: Fault): void {
  parseOptions("inject: ", faultArgument, { fault });
}
