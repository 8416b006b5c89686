/** Checks of the arguments of the engine's own methods. */
import {
  choiceOption,
  functionOption,
  option,
  optionsObject,
  parseOptions,
  wholeOption,
  type Mode,
} from "../../kernel/index.ts";
import type { AccountOptions, StopOptions } from "./options.ts";

export const modeOption = choiceOption<Mode>("sandbox", "live");

const accountOptions = optionsObject({ mode: modeOption.optional() });

/**
 * Checks the options of `engine.account` and returns the mode, or `standard` when they have none.
 * @throws TidingsError `invalid_option`
 */
export function accountMode(options: AccountOptions, standard: Mode): Mode {
  return parseOptions("engine.account: ", accountOptions, options).mode ?? standard;
}

/**
 * Checks the id that `engine.account` gets.
 * @throws TidingsError `invalid_option`
 */
export function checkAccountId(id: unknown): void {
  parseOptions("engine.account: ", accountArgument, { id });
}

const accountArgument = optionsObject({
  id: option<string>(
    "the id of an account, or undefined for the default account",
    (id) => typeof id === "string",
    { advice: (id) => (typeof id === "object" ? ". Options such as { mode } come second." : "") },
  ),
});

/**
 * Checks the options of `engine.stop` and returns the deadline in milliseconds.
 * @throws TidingsError `invalid_option`
 */
export function stopDeadline(options: StopOptions): number {
  return parseOptions("engine.stop: ", stopOptions, options).deadlineMs;
}

/**
 * Checks the argument of `engine.transaction`.
 * @throws TidingsError `invalid_option`
 */
export function checkTransaction(work: unknown): void {
  parseOptions("engine.transaction: ", transactionArgument, { work });
}

/**
 * Checks the schema version that `engine.migrationSql` gets. With a number that is no version, the
 * statements would mark an empty database as migrated.
 * @throws TidingsError `invalid_option`
 */
export function checkSchemaVersion(from: unknown): void {
  parseOptions("engine.migrationSql: ", versionArgument, { from });
}

const versionArgument = optionsObject({ from: wholeOption(0, Number.MAX_SAFE_INTEGER) });

const transactionArgument = optionsObject({ work: functionOption() });

const stopOptions = optionsObject({ deadlineMs: wholeOption(0, 3_600_000).default(10_000) });
