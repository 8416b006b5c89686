import { TidingsError } from "./errors.ts";
import type { Clock } from "./ports/clock.ts";
import { type Logger, silent } from "./ports/logger.ts";
import type { Random } from "./ports/random.ts";
import type { StoragePort } from "./ports/storage.ts";
import type { Transport } from "./ports/transport.ts";
import type { Mode } from "./scope.ts";

/** Bounds that a host can move. Each has a default in `defaultLimits`. */
export interface Limits {
  /** Bytes of a request body. */
  readonly body_bytes: number;
  /** Bytes of a batch's or an import's body. */
  readonly batch_body_bytes: number;
  /** Characters of a message's text. */
  readonly message_characters: number;
  readonly media_items: number;
  readonly batch_items: number;
  readonly metadata_keys: number;
  /** Characters of a metadata value. */
  readonly metadata_characters: number;
  /** Levels of objects and arrays in a JSON body. */
  readonly json_depth: number;
}

export const defaultLimits: Limits = {
  body_bytes: 1_048_576,
  batch_body_bytes: 8_388_608,
  message_characters: 1_600,
  media_items: 10,
  batch_items: 1_000,
  metadata_keys: 50,
  metadata_characters: 500,
  json_depth: 32,
};

/** `Tx` is the storage's kind of handle; undefined where it has no transactions for your own statements. */
export interface EngineOptions<Tx extends object | undefined = object | undefined> {
  readonly storage: StoragePort<Tx>;
  readonly transports: readonly Transport[];
  readonly clock: Clock;
  readonly random: Random;
  /** Silent by default. Takes a pino logger as it is. */
  readonly logger?: Logger;
  /** The mode of `engine.messages` and its like. Sandbox by default: going live is said, not assumed. */
  readonly mode?: Mode;
  readonly limits?: Partial<Limits>;
  /** Jobs at once, 1 to 1,000; by default 64. One transport has three quarters of them at most, so that one that hangs leaves room. */
  readonly concurrency?: number;
  /** Jobs at once for one destination (an account on a transport), 1 to 1,000; by default 16. */
  readonly laneConcurrency?: number;
  /** How long an idempotency key is remembered, 1 to 720 hours; by default 24. */
  readonly idempotencyHours?: number;
  /** How long events are kept, 1 to 3,650 days; by default 30. */
  readonly eventRetentionDays?: number;
}

/** Options with everything decided. */
export interface Settings extends Required<Omit<EngineOptions, "limits">> {
  readonly limits: Limits;
}

/**
 * @throws TidingsError `invalid_option`, naming each option that is wrong, what was expected and what came
 */
export function settingsOf(options: EngineOptions): Settings {
  const wrong: string[] = [];
  const expect = (name: string, holds: boolean, expected: string, came: unknown): void => {
    if (!holds) wrong.push(`${name}: expected ${expected}, got ${describe(came)}`);
  };
  /** Where a text is one of a few names, and telling which it was helps. */
  const expectName = (name: string, holds: boolean, expected: string, came: unknown): void => {
    if (!holds)
      {wrong.push(`${name}: expected ${expected}, got ${typeof came === "string" ? quoted(came) : describe(came)}`);}
  };
  const given: unknown = options;
  if (typeof given !== "object" || given === null) {
    throw new TidingsError("invalid_option", `options: expected an object, got ${describe(given)}`);
  }
  const known = new Set<string>(optionNames);
  for (const name of Object.keys(given)) expectName(name, known.has(name), `one of ${optionNames.join(", ")}`, name);

  const { storage, transports, clock, random, logger, limits = {}, mode = "sandbox" } = options;
  expect("storage", has(storage, "begin", "open"), 'a storage, such as sqlite({ file }) of "tidings/sqlite"', storage);
  expect("clock", has(clock, "now", "sleep"), 'a clock: spread system() of "tidings/system"', clock);
  expect("random", has(random, "bytes"), 'randomness: spread system() of "tidings/system"', random);
  expect(
    "logger",
    logger === undefined || has(logger, "debug", "info", "warn", "error"),
    "a pino-shaped logger",
    logger,
  );
  expectName("mode", mode === "sandbox" || mode === "live", '"sandbox" or "live"', mode);
  const isList = Array.isArray(transports);
  const areTransports = isList && transports.every(isTransport);
  expect("transports", areTransports, "a list of transports", transports);
  const names: readonly string[] = areTransports ? transports.map(({ name }) => name) : [];
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  expectName("transports", twice === undefined, "transports of different names", twice);

  const within = (name: NumericOption, min: number, max: number, standard: number): number => {
    const value = options[name] ?? standard;
    expect(
      name,
      Number.isInteger(value) && value >= min && value <= max,
      `a whole number from ${min} to ${max}`,
      value,
    );
    return value;
  };
  const areLimits = typeof limits === "object" && limits !== null;
  expect("limits", areLimits, "an object", limits);
  for (const [name, value] of areLimits ? Object.entries(limits) : []) {
    expectName(
      `limits.${name}`,
      Object.hasOwn(defaultLimits, name),
      `one of ${Object.keys(defaultLimits).join(", ")}`,
      name,
    );
    expect(`limits.${name}`, Number.isSafeInteger(value) && value > 0, "a whole number above 0", value);
  }
  const settings: Settings = {
    storage,
    transports,
    clock,
    random,
    logger: logger ?? silent,
    mode,
    limits: { ...defaultLimits, ...limits },
    concurrency: within("concurrency", 1, 1_000, 64),
    laneConcurrency: within("laneConcurrency", 1, 1_000, 16),
    idempotencyHours: within("idempotencyHours", 1, 720, 24),
    eventRetentionDays: within("eventRetentionDays", 1, 3_650, 30),
  };
  if (wrong.length > 0) throw new TidingsError("invalid_option", wrong.join("; "));
  return settings;
}

const optionNames = [
  "storage",
  "transports",
  "clock",
  "random",
  "logger",
  "mode",
  "limits",
  "concurrency",
  "laneConcurrency",
  "idempotencyHours",
  "eventRetentionDays",
] as const satisfies readonly (keyof EngineOptions)[];

type NumericOption = "concurrency" | "laneConcurrency" | "idempotencyHours" | "eventRetentionDays";

function has(value: unknown, ...methods: string[]): boolean {
  if (typeof value !== "object" || value === null) return false;
  return methods.every((method) => typeof Reflect.get(value, method) === "function");
}

function isTransport(value: unknown): value is Transport {
  if (!has(value, "send")) return false;
  const { name, capabilities } = value as { readonly name?: unknown; readonly capabilities?: unknown };
  return typeof name === "string" && typeof capabilities === "object" && capabilities !== null;
}

function quoted(text: string): string {
  return `"${text.slice(0, 40)}"`;
}

/** What came, without its contents: an option may hold a secret. */
function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}
