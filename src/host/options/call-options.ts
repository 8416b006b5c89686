/** Checks of the options that the methods of handles take as their last argument. */
import { describe, invalid, suggestion } from "../../kernel/index.ts";
import {
  takesKey,
  type Command,
  type CommandOptions,
  type Procedure,
  type StreamOptions,
} from "../../operations/index.ts";

const commandOptions = ["idempotencyKey", "tx"] satisfies (keyof CommandOptions)[];
const streamOptions = ["signal"] satisfies (keyof StreamOptions)[];

/** Returns the names of the options of a method. */
export function optionsOf(
  operation:
    Pick<Command<never, unknown>, "kind" | "takesNoKey"> | Pick<Procedure<never, unknown>, "kind">,
): readonly string[] {
  if (!takesKey(operation)) return [];
  return operation.kind === "command" ? commandOptions : ["idempotencyKey"];
}

/**
 * Refuses unknown options of a command. If a misspelled `idempotencyKey` or `tx` were ignored, a
 * message could be sent twice, or outside of the transaction.
 * @throws TidingsError `validation_failed`
 */
export function checkCommandOptions(options: unknown): void {
  checkOptionNames(options, commandOptions, " To join a transaction, pass { tx: handle }.");
}

/** @throws TidingsError `validation_failed` */
export function checkStreamOptions(options: StreamOptions): void {
  checkOptionNames(options, streamOptions, "");
  const { signal }: { readonly signal?: unknown } = options;
  if (signal === undefined || signal instanceof AbortSignal) return;
  const message = `Expected an AbortSignal, got ${describe(signal)}.`;
  throw invalid([{ parameter: "signal", code: "invalid_type", message }]);
}

function checkOptionNames(options: unknown, optionNames: readonly string[], advice: string): void {
  const isObject = typeof options === "object" && options !== null;
  const names = isObject ? Object.keys(options) : [];
  // A plain object's prototype has no prototype. A database handle is not plain.
  const prototype: unknown = isObject ? Object.getPrototypeOf(options) : undefined;
  const isPlain = prototype === null || (isObject && Object.getPrototypeOf(prototype) === null);
  const unknown = names.filter((name) => !optionNames.includes(name));
  if (!isPlain && unknown.length === names.length) {
    const expected = `{ ${optionNames.join(", ")} }`;
    const message = `Expected the options ${expected}, got ${describe(options)}.${advice}`;
    throw invalid([{ parameter: "options", code: "invalid_type", message }]);
  }
  if (unknown.length === 0) return;
  throw invalid(
    unknown.map((name) => {
      const hint = suggestion(name, optionNames) || ".";
      const message = `Unknown option. Expected ${optionNames.join(" or ")}${hint}`;
      return { parameter: name, code: "unknown_option", message };
    }),
  );
}
