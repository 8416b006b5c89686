import type { Logger } from "../../src/ports/index.ts";

/**
 * Writes warnings and errors to stderr, one line each: the time, the level, the message, and the
 * facts as JSON. Errors among the facts have their stack. Other levels are dropped.
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

/** A log line must not fail: facts that JSON cannot hold are left out. */
function jsonOf(facts: object): string {
  try {
    return JSON.stringify(facts, (_, value: unknown) => plain(value));
  } catch {
    return "{}";
  }
}

function plain(value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (!(value instanceof Error)) return value;
  const { name, message, stack, cause } = value;
  return { ...Object.fromEntries(Object.entries(value)), name, message, stack, cause };
}
