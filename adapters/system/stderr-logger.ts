import type { Logger } from "../../src/ports/index.ts";

/**
 * Writes warnings and errors to stderr, one line each: the time, the level, the message, and the
 * facts as JSON. Errors among the facts have their stack and come last, since stacks are long.
 * Other levels are dropped.
 */
export function stderrLogger(): Logger {
  return {
    debug() {},
    info() {},
    warn: (facts, message) => write("WARN", facts, message),
    error: (facts, message) => write("ERROR", facts, message),
  };
}

function write(level: string, facts: object, message: string): void {
  process.stderr.write(`${new Date().toISOString()} ${level} ${message} ${jsonOf(facts)}\n`);
}

/**
 * Returns the facts as JSON. A log line must not fail: a circular reference becomes `[circular]`,
 * and a fact that JSON cannot hold is left out.
 */
function jsonOf(facts: object): string {
  const members: string[] = [];
  const errors: string[] = [];
  for (const name of Object.keys(facts)) {
    try {
      const value: unknown = Reflect.get(facts, name);
      const json: string | undefined = JSON.stringify(value, replacer());
      if (json === undefined) continue;
      (value instanceof Error ? errors : members).push(`${JSON.stringify(name)}:${json}`);
    } catch {
      // The fact is left out.
    }
  }
  return `{${[...members, ...errors].join(",")}}`;
}

/** Returns a replacer for one call of `JSON.stringify`. */
function replacer(): (this: unknown, key: string, value: unknown) => unknown {
  /** The objects that contain the current value, outermost first. */
  const parents: { readonly value: unknown; readonly written: unknown }[] = [];
  return function replace(_, value) {
    while (parents.length > 0 && parents.at(-1)?.written !== this) parents.pop();
    if (parents.some((parent) => parent.value === value)) return "[circular]";
    const written = plain(value);
    if (typeof written === "object" && written !== null) parents.push({ value, written });
    return written;
  };
}

/** Returns a value that JSON can hold in place of a bigint or an error. */
function plain(value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (!(value instanceof Error)) return value;
  const { name, message, stack, cause } = value;
  const errors: unknown = value instanceof AggregateError ? value.errors : undefined;
  // People read the name and the message first, and the long stacks last.
  return { name, message, ...Object.fromEntries(Object.entries(value)), stack, cause, errors };
}
