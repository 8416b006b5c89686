import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import { nearestName } from "../../src/kernel/index.ts";
import { systemCode, UsageError } from "./failures.ts";

interface Parsed<O extends ParseArgsOptionsConfig> {
  readonly values: ReturnType<
    typeof parseArgs<{ options: O; strict: true; allowPositionals: true }>
  >["values"];
  /** The arguments that are not options, one for each of `names`. */
  readonly words: readonly string[];
}

/**
 * Parses the arguments of a command. `names` are the arguments besides options, such as `id`. Each
 * is required.
 * @throws UsageError
 */
export function parseArguments<const O extends ParseArgsOptionsConfig>(
  usage: string,
  args: readonly string[],
  options: O,
  names: readonly string[] = [],
): Parsed<O> {
  try {
    const config = { args: [...args], options, strict: true, allowPositionals: true } as const;
    const { values, positionals } = parseArgs(config);
    checkWords(usage, positionals, names);
    return { values, words: positionals };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(sentenceOf(error, Object.keys(options)), usage);
  }
}

function checkWords(usage: string, given: readonly string[], names: readonly string[]): void {
  const missing = names[given.length];
  if (missing !== undefined) throw new UsageError(`The ${missing} is missing.`, usage);
  const extra = given[names.length];
  if (extra !== undefined) throw new UsageError(`Unexpected argument "${extra}".`, usage);
}

/** The first sentence of Node's message says what is wrong. The hints after it do not fit here. */
function sentenceOf(error: unknown, known: readonly string[]): string {
  const message = error instanceof Error ? error.message : String(error);
  const [sentence = message] = message.split(/\. |\n/);
  const [, valueless] = /^Option '(--[^ ']+) <value>' argument missing/.exec(sentence) ?? [];
  if (valueless !== undefined) return `${valueless} needs a value.`;
  if (systemCode(error) !== "ERR_PARSE_ARGS_UNKNOWN_OPTION") {
    return `${sentence.replace(/\.$/, "")}.`;
  }
  const [, name = ""] = /'--?([^']*)'/.exec(sentence) ?? [];
  const nearest = nearestName(name, known);
  const question = nearest === undefined ? "" : ` Did you mean --${nearest}?`;
  return `There is no option --${name}.${question}`;
}

/**
 * Splits off the subcommand.
 * @throws UsageError when it is missing or unknown
 */
export function subcommand<const Name extends string>(
  usage: string,
  [given, ...rest]: readonly string[],
  names: readonly Name[],
): readonly [Name, readonly string[]] {
  const name = names.find((each) => each === given);
  if (name !== undefined) return [name, rest];
  const expected = names.join(", ");
  throw new UsageError(
    given === undefined
      ? `The subcommand is missing. Expected: ${expected}.`
      : `There is no subcommand "${given}". Expected: ${expected}.`,
    usage,
  );
}
