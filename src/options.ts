import { type Destinations, destinations } from "./destinations/destinations.ts";
import { TidingsError } from "./errors.ts";
import type { Clock } from "./ports/clock.ts";
import { type Logger, silent } from "./ports/logger.ts";
import type { HttpClient } from "./ports/http-client.ts";
import type { Policy } from "./ports/policy.ts";
import type { Random } from "./ports/random.ts";
import type { SentimentAnalyzer } from "./ports/sentiment.ts";
import type { StoragePort } from "./ports/storage.ts";
import { type Transport, webchatTransportName } from "./ports/transport.ts";
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
  /** Lines of an import that comes as lines. */
  readonly import_rows: number;
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
  import_rows: 100_000,
  metadata_keys: 50,
  metadata_characters: 500,
  json_depth: 32,
};

/** How opt-outs are taken and answered. Texts of up to 1,600 characters. */
export interface ConsentOptions {
  /**
   * What STOP covers: the whole account, by default, or the sender that it was said to. To a sender START takes back what was said to it,
   * and an opt-out from the whole account.
   */
  readonly scope?: "account" | "sender";
  /** Takes what comes near an opt-out ("please stop texting me") for one. By default it is flagged, and a person decides. */
  readonly honourNearMatches?: boolean;
  /** What the one message says that confirms an opt-out. */
  readonly optOutText?: string;
  /** What START is answered. */
  readonly optInText?: string;
  /** What HELP is answered; by default nothing. */
  readonly helpText?: string;
}

export interface WebchatOptions {
  /** Whose pages may write and listen as visitors, as browsers say it: `https://shop.example`. Up to 100; by default none. */
  readonly origins?: readonly string[];
  /** How long a visitor's session lasts, 1 to 720 hours; by default 24. */
  readonly sessionHours?: number;
}

/** The way out of the engine, for what users give URLs of. */
export interface HttpOptions {
  /** Such as `httpClient()` of "tidings/http-client". */
  readonly client: HttpClient;
  /**
   * What may be called besides the public Internet: host names (`hooks.internal`: that very name, wherever it leads), addresses and
   * networks (`10.1.0.0/16`, `fd00::/8`). Up to 1,000; by default nothing.
   */
  readonly allow?: readonly string[];
}

export interface WebhookOptions {
  /** How long an attempt may take, from the look-up of the name to the last byte of the answer: 1 to 60 seconds, by default 15. */
  readonly deadlineSeconds?: number;
}

/** Local hours, `HH:MM` from 00:00 to 23:59; over midnight where `from` is later than `to`. The same twice means none. */
export interface QuietHours {
  readonly from: string;
  readonly to: string;
}

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
  /** Tells how what contacts write sounds, such as `sentiment()` of "tidings/sentiment". Without one nothing is scored. */
  readonly sentiment?: SentimentAnalyzer | undefined;
  /** Jobs at once, 1 to 1,000; by default 64. One transport has three quarters of them at most, so that one that hangs leaves room. */
  readonly concurrency?: number;
  /** Jobs at once for one destination (an account on a transport), 1 to 1,000; by default 16. */
  readonly laneConcurrency?: number;
  /** How long an idempotency key is remembered, 1 to 720 hours; by default 24. */
  readonly idempotencyHours?: number;
  /** How long after it was closed a message from the contact opens a conversation again, 1 to 8,760 hours; by default 24. Later a new one begins. */
  readonly reopenHours?: number;
  /** How long events are kept, 1 to 3,650 days; by default 30. */
  readonly eventRetentionDays?: number;
  /** Without it no webhook can be made, and deliveries wait for an engine that has one. */
  readonly http?: HttpOptions;
  readonly webhooks?: WebhookOptions;
  readonly webchat?: WebchatOptions;
  readonly consent?: ConsentOptions;
  /** When marketing messages wait, by the recipient's clock; where its time zone isn't known, by the account's. By default they never do. */
  readonly quietHours?: QuietHours;
  /** Your own rules of what may go out, beside consent and quiet hours; 20 at most. Every one of them is asked. */
  readonly policies?: readonly Policy<Tx>[];
}

/** Options with everything decided. */
export interface Settings extends Required<
  Omit<EngineOptions, "limits" | "sentiment" | "http" | "webhooks" | "webchat" | "consent" | "quietHours">
> {
  readonly http: HttpSettings | undefined;
  readonly webhooks: Required<WebhookOptions>;
  readonly webchat: Required<WebchatOptions>;
  readonly sentiment: SentimentAnalyzer | undefined;
  readonly limits: Limits;
  readonly consent: ConsentSettings;
  readonly quietHours: QuietHours | null;
}

export interface HttpSettings {
  readonly client: HttpClient;
  /** Plain http is for sandboxes. */
  readonly destinations: Readonly<Record<Mode, Destinations>>;
}

/** Null: no answer. */
export interface ConsentSettings extends Required<Omit<ConsentOptions, "helpText">> {
  readonly helpText: string | null;
}

export const standardConsent: ConsentSettings = {
  scope: "account",
  honourNearMatches: false,
  optOutText: "You have opted out and will get no more messages from us. Reply START to opt in again.",
  optInText: "You have opted in to messages from us. Reply STOP to opt out.",
  helpText: null,
};

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
    if (!holds) {
      wrong.push(`${name}: expected ${expected}, got ${typeof came === "string" ? quoted(came) : describe(came)}`);
    }
  };
  const given: unknown = options;
  if (typeof given !== "object" || given === null) {
    throw new TidingsError("invalid_option", `options: expected an object, got ${describe(given)}`);
  }
  const known = new Set<string>(optionNames);
  for (const name of Object.keys(given)) expectName(name, known.has(name), `one of ${optionNames.join(", ")}`, name);

  const { storage, transports, clock, random, logger, limits = {}, mode = "sandbox", sentiment } = options;
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
  expectName(
    "transports",
    !names.includes(webchatTransportName),
    "none of the name of the engine's own",
    webchatTransportName,
  );
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  expectName("transports", twice === undefined, "transports of different names", twice);

  expect("sentiment", sentiment === undefined || has(sentiment, "score"), "an analyzer with a method score", sentiment);

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
  const { consent = {}, quietHours = null, policies = [] } = options;
  const isConsent = typeof consent === "object" && consent !== null;
  expect("consent", isConsent, "an object", consent);
  for (const [name, value] of isConsent ? Object.entries(consent) : []) {
    expectName(`consent.${name}`, ...consentOption(name, value), value);
  }
  const areHours = quietHours === null || (isTimeOfDay(quietHours.from) && isTimeOfDay(quietHours.to));
  expect("quietHours", areHours, '{ from, to } as "HH:MM"', quietHours);
  const arePolicies = Array.isArray(policies) && policies.length <= 20 && policies.every(isPolicy);
  expect("policies", arePolicies, "a list of up to 20 policies, each with a name and evaluate(facts, tx)", policies);
  const ruleNames: readonly string[] = arePolicies ? policies.map(({ name }) => name) : [];
  const taken = ["consent", "quiet_hours", ...ruleNames].find((name, i, all) => all.indexOf(name) !== i);
  expectName("policies", taken === undefined, "policies of different names, other than the built-in ones", taken);
  const { http, webhooks = {} } = options;
  const isHttp = http === undefined || (has(http, "valueOf") && has(http.client, "send", "close"));
  expect("http", isHttp, '{ client }, such as httpClient() of "tidings/http-client"', http);
  const { allow = [] } = (isHttp ? http : undefined) ?? {};
  const isAllowed = Array.isArray(allow) && allow.length <= 1_000 && allow.every(isDestination);
  expect("http.allow", isAllowed, "a list of host names, addresses and networks", allow);
  const isWebhooks = typeof webhooks === "object" && webhooks !== null;
  expect("webhooks", isWebhooks, "an object", webhooks);
  const { deadlineSeconds = 15, ...noSuch } = isWebhooks ? webhooks : {};
  for (const name of Object.keys(noSuch)) expectName(`webhooks.${name}`, false, "deadlineSeconds", name);
  const isDeadline = Number.isInteger(deadlineSeconds) && deadlineSeconds >= 1 && deadlineSeconds <= 60;
  expect("webhooks.deadlineSeconds", isDeadline, "a whole number from 1 to 60", deadlineSeconds);
  const { webchat = {} } = options;
  const isWebchat = typeof webchat === "object" && webchat !== null;
  expect("webchat", isWebchat, "an object", webchat);
  const { origins = [], sessionHours = 24, ...unknown } = isWebchat ? webchat : {};
  for (const name of Object.keys(unknown)) expectName(`webchat.${name}`, false, "origins or sessionHours", name);
  const areOrigins = Array.isArray(origins) && origins.length <= 100 && origins.every(isOrigin);
  expect("webchat.origins", areOrigins, 'a list of origins, such as "https://shop.example"', origins);
  const areSessionHours = Number.isInteger(sessionHours) && sessionHours >= 1 && sessionHours <= 720;
  expect("webchat.sessionHours", areSessionHours, "a whole number from 1 to 720", sessionHours);
  const settings: Settings = {
    storage,
    transports,
    clock,
    random,
    logger: logger ?? silent,
    mode,
    limits: { ...defaultLimits, ...limits },
    sentiment,
    http:
      http === undefined || !isHttp || !isAllowed
        ? undefined
        : {
            client: http.client,
            destinations: { live: destinations({ allow }), sandbox: destinations({ allow, http: true }) },
          },
    webhooks: { deadlineSeconds },
    webchat: { origins, sessionHours },
    concurrency: within("concurrency", 1, 1_000, 64),
    laneConcurrency: within("laneConcurrency", 1, 1_000, 16),
    idempotencyHours: within("idempotencyHours", 1, 720, 24),
    reopenHours: within("reopenHours", 1, 8_760, 24),
    eventRetentionDays: within("eventRetentionDays", 1, 3_650, 30),
    consent: { ...standardConsent, ...consent },
    quietHours,
    policies,
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
  "sentiment",
  "concurrency",
  "laneConcurrency",
  "idempotencyHours",
  "reopenHours",
  "eventRetentionDays",
  "http",
  "webhooks",
  "webchat",
  "consent",
  "quietHours",
  "policies",
] as const satisfies readonly (keyof EngineOptions)[];

type NumericOption = "concurrency" | "laneConcurrency" | "idempotencyHours" | "reopenHours" | "eventRetentionDays";

function has(value: unknown, ...methods: string[]): boolean {
  if (typeof value !== "object" || value === null) return false;
  return methods.every((method) => typeof Reflect.get(value, method) === "function");
}

function isTransport(value: unknown): value is Transport {
  if (!has(value, "send")) return false;
  const { name, capabilities } = value as { readonly name?: unknown; readonly capabilities?: unknown };
  return typeof name === "string" && typeof capabilities === "object" && capabilities !== null;
}

/** Whether an option of consent is right, and what is expected of it. */
function consentOption(name: string, value: unknown): [holds: boolean, expected: string] {
  switch (name) {
    case "scope":
      return [value === "account" || value === "sender", '"account" or "sender"'];
    case "honourNearMatches":
      return [typeof value === "boolean", "true or false"];
    case "optOutText":
    case "optInText":
    case "helpText":
      return [isTextToSend(value), "a text of 1 to 1,600 characters"];
    default:
      return [false, "no such option"];
  }
}

function isDestination(value: unknown): boolean {
  if (typeof value !== "string") return false;
  try {
    destinations({ allow: [value] });
    return true;
  } catch {
    return false;
  }
}

/** As a browser sends it: scheme, host and port, and no more. */
function isOrigin(value: unknown): boolean {
  return typeof value === "string" && URL.canParse(value) && new URL(value).origin === value;
}

function isTextToSend(value: unknown): boolean {
  return typeof value === "string" && value.trim() !== "" && value.length <= 1_600 && value.isWellFormed();
}

function isTimeOfDay(value: unknown): boolean {
  return typeof value === "string" && /^([01]\d|2[0-3]):[0-5]\d$/.test(value);
}

function isPolicy(value: unknown): value is Policy {
  if (!has(value, "evaluate")) return false;
  const { name } = value as { readonly name?: unknown };
  return typeof name === "string" && /^[a-z][a-z0-9_]{0,63}$/.test(name);
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
