import { PolicyFailure, TidingsError } from "../kernel/index.ts";

/**
 * A logger with the interface of pino: facts first, then a message. The engine puts no secrets,
 * message bodies or phone numbers into the facts. The fact `err` is always an `Error`: a
 * `TidingsError` with its fields, or one with only the name, the message, the stack, the code and
 * the cause of what was thrown. If a transport or a handler of the host application threw it, its
 * texts are those of the host.
 */
export interface Logger {
  /** Logs details for debugging. */
  debug(facts: object, message: string): void;
  /** Logs normal operation. */
  info(facts: object, message: string): void;
  /** Logs a problem that the engine can handle itself. */
  warn(facts: object, message: string): void;
  /** Logs a problem that a person should look at. The error is in `facts`. */
  error(facts: object, message: string): void;
}

/**
 * Returns a logger that passes what was thrown on as an `Error`. The fact `err` then has a name, a
 * message, a stack, a code and a cause, whatever it was, and every way of printing it shows them.
 * Other properties are left out: HTTP clients attach the whole request to an error, with
 * credentials and message texts.
 *
 * The logger never throws, and an async one may reject. Work that reports a problem must not fail
 * because the host application's logger does.
 */
export function errorLogger(logger: Logger): Logger {
  const prepare = (facts: object): object =>
    "err" in facts ? { ...facts, err: loggableError(facts.err) } : facts;
  const at =
    (level: keyof Logger): Logger["error"] =>
    (facts, message) => {
      try {
        const written: unknown = logger[level](prepare(facts), message);
        // An unhandled rejection would end the process.
        void Promise.resolve(written).catch(() => undefined);
      } catch {
        // There is nowhere left to report it.
      }
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/**
 * Returns an error for the log in place of one whose message may quote what somebody wrote. It has
 * the name, the code and the place of the error, without the message and the cause.
 */
export function withoutMessage(thrown: unknown): Error {
  const { name, code, message, stack } = errorFacts(thrown);
  const error = new Error("The message is left out, because it may quote a message.");
  // A stack begins with the message, unless code has changed the message or the stack since. Only
  // lines of calls that follow the message are safe.
  const start = message === "" ? 0 : (stack?.indexOf(message) ?? -1);
  const calls = start === -1 ? undefined : stack?.slice(start + message.length);
  const isClean = calls?.split("\n").every((line) => /^\s*(at .*)?$/.test(line)) ?? false;
  return define(error, { name, code, stack: `${name}: ${error.message}${isClean ? calls : ""}` });
}

/** How many causes of causes are logged. A cause may be its own cause. */
const maxCauses = 5;

function loggableError(thrown: unknown, depth = 0): Error {
  const { name, message, code, cause, ...more } = errorFacts(thrown);
  // The stack of the error below would lead to this file and not to what was thrown.
  const stack = more.stack ?? `${name}: ${message}`;
  const hasCause = cause !== undefined && depth < maxCauses && !(thrown instanceof PolicyFailure);
  const facts = hasCause ? { cause: loggableError(cause, depth + 1) } : {};
  const error =
    thrown instanceof TidingsError ? engineError(thrown, facts) : new Error(message, facts);
  return define(error, { name, message, stack, code, ...facts });
}

function engineError(thrown: TidingsError, facts: { readonly cause?: Error }): TidingsError {
  const { code, message, errors, retryable, retryAfterMs, conflictingId } = thrown;
  const extras = { errors, retryable, retryAfterMs, conflictingId, ...facts };
  return new TidingsError(code, message, extras);
}

/** Makes the properties enumerable, so that `JSON.stringify` shows them too. */
function define(error: Error, properties: { readonly [name: string]: unknown }): Error {
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined) continue;
    const rest = { enumerable: true, configurable: true, writable: true };
    Object.defineProperty(error, key, { value, ...rest });
  }
  return error;
}

/** The safe properties of something that was thrown. */
interface ErrorFacts {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly code: string | number | undefined;
  readonly cause: unknown;
}

/** Reads the properties of a thrown value, which need not be an error. Never throws. */
export function errorFacts(thrown: unknown): ErrorFacts {
  const read = (key: string): unknown => {
    try {
      return typeof thrown === "object" && thrown !== null ? Reflect.get(thrown, key) : undefined;
    } catch {
      return undefined;
    }
  };
  const [name, message, stack, code] = ["name", "message", "stack", "code"].map(read);
  return {
    name: typeof name === "string" && name !== "" ? name : "Error",
    message: typeof message === "string" ? message : describeThrown(thrown),
    stack: typeof stack === "string" ? stack : undefined,
    code: typeof code === "string" || typeof code === "number" ? code : undefined,
    cause: read("cause"),
  };
}

/**
 * Describes a thrown value without a message. Of an object only the names of its fields are safe.
 */
function describeThrown(thrown: unknown): string {
  if (typeof thrown === "string") return thrown;
  if (typeof thrown !== "object" || thrown === null) return `${String(thrown)} was thrown.`;
  try {
    return `An object with the fields ${Object.keys(thrown).join(", ")} was thrown.`;
  } catch {
    return "An object was thrown.";
  }
}

/** Logs nothing. */
export const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} };
