import { z } from "zod";
import {
  type Action,
  type Clock,
  destinations,
  type HttpClient,
  isAction,
  isRoute,
  type Language,
  languageMethods,
  type Logger,
  type Policy,
  type Random,
  type Route,
  type SentimentAnalyzer,
  type StoragePort,
  type Transport,
  webchatTransportName,
} from "../ports/index.ts";
import {
  defaultLimits,
  isTimeZone,
  type Limits,
  type Mode,
  TidingsError,
} from "../kernel/index.ts";
import { type ConsentSettings, type QuietHours, standardConsent } from "../operations/index.ts";
import type { AgentOptions, AgentSettings } from "../agents/index.ts";
import type { HttpSettings } from "../webhooks/index.ts";
import type { DefaultPorts, EngineOptions, Settings } from "./options.ts";

/**
 * Checks the options and fills in defaults.
 * @throws TidingsError `invalid_option` with the name, the expected value and the given value of
 *   each invalid option
 */
export function settingsOf(options: EngineOptions, defaults: DefaultPorts): Settings {
  const parsed = optionsSchema(defaults, transportNames(options)).safeParse(options, {
    reportInput: true,
  });
  if (parsed.success) {
    const { sentiment, http, agents, ...rest } = parsed.data;
    return { ...rest, sentiment, http, agents };
  }
  throw new TidingsError("invalid_option", parsed.error.issues.flatMap(problems).join("; "));
}

function optionsSchema(defaults: DefaultPorts, transports: readonly string[]) {
  const shape = {
    storage: port<StoragePort>('a storage, such as sqlite({ file }) of "tidings/sqlite"', [
      "begin",
      "open",
    ]),
    transports: list<Transport>("a list of transports", Infinity, isTransport)
      .superRefine(distinct("transports with different names"))
      .superRefine(excludes(webchatTransportName, "no transport with the engine's built-in name")),
    routes: list<Route>("a list of up to 100 routes that name configured transports", 100, (each) =>
      isRoute(each, transports),
    ).default(() => []),
    clock: port<Clock>("a clock with the methods now, monotonic and sleep", [
      "now",
      "monotonic",
      "sleep",
    ]).default(() => defaults.clock),
    random: port<Random>("a source of randomness with a method bytes", ["bytes"]).default(
      () => defaults.random,
    ),
    logger: port<Logger>("a logger with the methods debug, info, warn and error", [
      "debug",
      "info",
      "warn",
      "error",
    ]).default(() => defaults.logger),
    language: port<Language>(
      'a language, such as english() of "tidings/language"',
      languageMethods,
    ).default(() => defaults.language),
    mode: oneOf<Mode>("sandbox", "live").default("sandbox"),
    limits,
    sentiment: port<SentimentAnalyzer>("an analyzer with a method score", ["score"]).optional(),
    concurrency: whole(1, 1_000, 64),
    laneConcurrency: whole(1, 1_000, 16),
    idempotencyHours: whole(1, 720, 24),
    reopenHours: whole(1, 8_760, 24),
    eventRetentionDays: whole(1, 3_650, 30),
    http: http.optional(),
    webhooks: group({ deadlineSeconds: whole(1, 60, 15) }),
    agents: agents.optional(),
    webchat: group({
      origins: list<string>(
        'a list of origins, such as "https://shop.example"',
        100,
        isOrigin,
      ).default(() => []),
      sessionHours: whole(1, 720, 24),
    }),
    consent,
    quietHours: value<QuietHours>(
      '{ from, to } as "HH:MM"',
      (hours) => isTimeOfDay(memberOf(hours, "from")) && isTimeOfDay(memberOf(hours, "to")),
    )
      .nullable()
      .default(null),
    timeZone: value<string>(
      "a time zone of the IANA database, such as Europe/Berlin",
      (zone) => typeof zone === "string" && isTimeZone(zone),
      { isQuoted: true },
    ).default("UTC"),
    policies,
  } satisfies Record<keyof EngineOptions, z.ZodType>;
  return strict(shape, "an object");
}

/** How a problem reports what it got. By default it only names the type. */
interface Report {
  /** The value cannot be a secret, so a problem quotes it. */
  readonly isQuoted?: boolean;
  /** What to report in place of the value. */
  readonly got?: string;
}

function value<T>(expected: string, holds: (given: unknown) => boolean, report: Report = {}) {
  return z.custom<T>(holds, { error: expected, params: { ...report } });
}

const port = <T>(expected: string, methods: readonly string[]) =>
  value<T>(expected, (given) => has(given, ...methods));

const oneOf = <T extends string>(...all: readonly T[]) =>
  value<T>(all.map(quoted).join(" or "), (given) => all.some((each) => each === given), {
    isQuoted: true,
  });

const whole = (min: number, max: number, standard: number) =>
  value<number>(
    `a whole number from ${min} to ${max}`,
    (given) => Number.isInteger(given) && Number(given) >= min && Number(given) <= max,
  ).default(standard);

const list = <T>(expected: string, max: number, holds: (each: unknown) => boolean) =>
  value<readonly T[]>(
    expected,
    (given) => Array.isArray(given) && given.length <= max && given.every(holds),
  );

/** An object with these fields and no others. */
const strict = <S extends z.ZodRawShape>(shape: S, expected: string) =>
  z.strictObject(shape, {
    error: ({ code }) =>
      code === "unrecognized_keys" ? `one of ${Object.keys(shape).join(", ")}` : expected,
  });

/** A strict object that may be left out. Then all its fields have their defaults. */
const group = <S extends z.ZodRawShape>(shape: S) =>
  strict(shape, "an object").prefault({} as z.input<z.ZodObject<S, z.core.$strict>>);

const textToSend = value<string>(
  "a text of 1 to 1,600 characters",
  (text) =>
    typeof text === "string" &&
    text.trim() !== "" &&
    text.length <= 1_600 &&
    text.isWellFormed() &&
    !text.includes("\0"),
);

interface Named {
  readonly name: string;
}

const distinct =
  (expected: string, ...taken: readonly string[]) =>
  (all: readonly Named[], context: z.RefinementCtx): void => {
    const names = [...taken, ...all.map(({ name }) => name)];
    const twice = names.find((name, i) => names.indexOf(name) !== i);
    if (twice === undefined) return;
    context.addIssue({ code: "custom", message: expected, params: { got: quoted(twice) } });
  };

const excludes =
  (name: string, expected: string) =>
  (all: readonly Named[], context: z.RefinementCtx): void => {
    if (!all.some((each) => each.name === name)) return;
    context.addIssue({ code: "custom", message: expected, params: { got: quoted(name) } });
  };

const limit = (name: keyof Limits) =>
  value<number>(
    "a whole number above 0",
    (given) => Number.isSafeInteger(given) && Number(given) > 0,
  ).default(defaultLimits[name]);

const limits = group({
  body_bytes: limit("body_bytes"),
  batch_body_bytes: limit("batch_body_bytes"),
  message_characters: limit("message_characters"),
  media_items: limit("media_items"),
  batch_items: limit("batch_items"),
  import_rows: limit("import_rows"),
  metadata_keys: limit("metadata_keys"),
  metadata_characters: limit("metadata_characters"),
  json_depth: limit("json_depth"),
} satisfies Record<keyof Limits, z.ZodType>);

const http = strict(
  {
    client: port<HttpClient>('a client, such as httpClient() of "tidings/http-client"', [
      "send",
      "close",
    ]),
    allow: list<string>(
      "a list of host names, addresses and networks",
      1_000,
      isDestination,
    ).default(() => []),
  },
  '{ client }, such as httpClient() of "tidings/http-client"',
).transform(({ client, allow }): HttpSettings => ({
  client,
  destinations: { live: destinations({ allow }), sandbox: destinations({ allow, http: true }) },
}));

const agents = strict(
  {
    model: value<AgentOptions["model"]>(
      "a model, or a function that responds to a turn",
      (model) => typeof model === "function" || has(model, "respond"),
    ),
    actions: list<Action>("a list of up to 200 actions", 200, isAction)
      .superRefine(distinct("actions with different names"))
      .default(() => []),
    redact: value<(text: string) => string>(
      "a function that takes a text",
      (redact) => typeof redact === "function",
    ).default(() => (text: string) => text),
  },
  '{ model }, such as rules() of "tidings/models"',
).transform(({ model, actions, redact }): AgentSettings => ({
  model:
    typeof model === "function"
      ? { respond: model, source: undefined }
      : { respond: model.respond.bind(model), source: model.source },
  actions: new Map(actions.map((action) => [action.name, action])),
  redact,
}));

const consent = group({
  scope: oneOf<ConsentSettings["scope"]>("account", "sender").default(standardConsent.scope),
  honourNearMatches: value<boolean>("true or false", (given) => typeof given === "boolean").default(
    standardConsent.honourNearMatches,
  ),
  optOutText: textToSend.default(standardConsent.optOutText),
  optInText: textToSend.default(standardConsent.optInText),
  helpText: textToSend.optional().transform((text) => text ?? standardConsent.helpText),
});

const policies = list<Policy>(
  "a list of up to 20 policies, each with a name and evaluate(facts, tx)",
  20,
  isPolicy,
)
  .superRefine(
    distinct("policies with different names, none of them built in", "consent", "quiet_hours"),
  )
  .default(() => []);

/** One sentence for each wrong option. */
function problems(issue: z.core.$ZodIssue): string[] {
  const place = issue.path.map(String);
  const problem = (path: readonly string[], got: string): string =>
    `${path.join(".") || "options"}: expected ${issue.message}, got ${got}`;
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => problem([...place, key], quoted(key)));
  }
  const { isQuoted = false, got }: Report = issue.code === "custom" ? (issue.params ?? {}) : {};
  const { input } = issue;
  const shown = isQuoted && typeof input === "string" ? quoted(input) : describe(input);
  return [problem(place, got ?? shown)];
}

function transportNames(options: unknown): readonly string[] {
  const transports = memberOf(options, "transports");
  return Array.isArray(transports) && transports.every(isTransport)
    ? transports.map(({ name }) => name)
    : [];
}

function memberOf(of: unknown, name: string): unknown {
  return typeof of === "object" && of !== null ? Reflect.get(of, name) : undefined;
}

function has(value: unknown, ...methods: readonly string[]): boolean {
  return methods.every((method) => typeof memberOf(value, method) === "function");
}

function isTransport(value: unknown): value is Transport {
  const capabilities = memberOf(value, "capabilities");
  return (
    has(value, "send") &&
    typeof memberOf(value, "name") === "string" &&
    typeof capabilities === "object" &&
    capabilities !== null
  );
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

/** An origin as browsers send it: only scheme, host and port. */
function isOrigin(value: unknown): boolean {
  return typeof value === "string" && URL.canParse(value) && new URL(value).origin === value;
}

function isTimeOfDay(value: unknown): boolean {
  return typeof value === "string" && /^([01]\d|2[0-3]):[0-5]\d$/.test(value);
}

function isPolicy(value: unknown): value is Policy {
  const name = memberOf(value, "name");
  return has(value, "evaluate") && typeof name === "string" && /^[a-z][a-z0-9_]{0,63}$/.test(name);
}

function quoted(text: string): string {
  return `"${text.slice(0, 40)}"`;
}

/** Describes a value without its contents, because an option may hold a secret. */
function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
