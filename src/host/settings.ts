import {
  destinations,
  isAction,
  isRoute,
  languageMethods,
  type Policy,
  type Transport,
  webchatTransportName,
} from "../ports/index.ts";
import { defaultLimits, isTimeZone, TidingsError } from "../kernel/index.ts";
import { standardConsent } from "../operations/index.ts";
import type { AgentOptions, AgentSettings } from "../agents/index.ts";
import { type DefaultPorts, type EngineOptions, type Settings } from "./options.ts";

/**
 * Checks the options and fills in defaults.
 * @throws TidingsError `invalid_option` with the name, the expected value and the given value of
 *   each invalid option
 */
export function settingsOf(options: EngineOptions, defaults: DefaultPorts): Settings {
  const wrong: string[] = [];
  const expect = (name: string, holds: boolean, expected: string, came: unknown): void => {
    if (!holds) wrong.push(`${name}: expected ${expected}, got ${describe(came)}`);
  };
  /** Like `expect`, but quotes a string value. Use it only where the value cannot be a secret. */
  const expectName = (name: string, holds: boolean, expected: string, came: unknown): void => {
    if (!holds) {
      const given = typeof came === "string" ? quoted(came) : describe(came);
      wrong.push(`${name}: expected ${expected}, got ${given}`);
    }
  };
  const given: unknown = options;
  if (typeof given !== "object" || given === null) {
    throw new TidingsError("invalid_option", `options: expected an object, got ${describe(given)}`);
  }
  const known = new Set<string>(optionNames);
  for (const name of Object.keys(given)) {
    expectName(name, known.has(name), `one of ${optionNames.join(", ")}`, name);
  }

  const {
    storage,
    transports,
    clock = defaults.clock,
    random = defaults.random,
    logger = defaults.logger,
    language = defaults.language,
    limits = {},
    mode = "sandbox",
    sentiment,
  } = options;
  expect(
    "storage",
    has(storage, "begin", "open"),
    'a storage, such as sqlite({ file }) of "tidings/sqlite"',
    storage,
  );
  expect("clock", has(clock, "now", "sleep"), "a clock with the methods now and sleep", clock);
  expect("random", has(random, "bytes"), "a source of randomness with a method bytes", random);
  expect(
    "logger",
    has(logger, "debug", "info", "warn", "error"),
    "a logger with the methods debug, info, warn and error",
    logger,
  );
  expect(
    "language",
    has(language, ...languageMethods),
    'a language, such as english() of "tidings/language"',
    language,
  );
  expectName("mode", mode === "sandbox" || mode === "live", '"sandbox" or "live"', mode);
  const isList = Array.isArray(transports);
  const areTransports = isList && transports.every(isTransport);
  expect("transports", areTransports, "a list of transports", transports);
  const names: readonly string[] = areTransports ? transports.map(({ name }) => name) : [];
  expectName(
    "transports",
    !names.includes(webchatTransportName),
    "no transport with the engine's built-in name",
    webchatTransportName,
  );
  const { routes = [] } = options;
  const areRoutes =
    Array.isArray(routes) && routes.length <= 100 && routes.every((each) => isRoute(each, names));
  expect("routes", areRoutes, "a list of up to 100 routes that name configured transports", routes);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  expectName("transports", twice === undefined, "transports with different names", twice);

  expect(
    "sentiment",
    sentiment === undefined || has(sentiment, "score"),
    "an analyzer with a method score",
    sentiment,
  );

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
    expect(
      `limits.${name}`,
      Number.isSafeInteger(value) && value > 0,
      "a whole number above 0",
      value,
    );
  }
  const { consent = {}, quietHours = null, timeZone = "UTC", policies = [] } = options;
  const isConsent = typeof consent === "object" && consent !== null;
  expect("consent", isConsent, "an object", consent);
  for (const [name, value] of isConsent ? Object.entries(consent) : []) {
    expectName(`consent.${name}`, ...consentOption(name, value), value);
  }
  const areHours =
    quietHours === null || (isTimeOfDay(quietHours.from) && isTimeOfDay(quietHours.to));
  expect("quietHours", areHours, '{ from, to } as "HH:MM"', quietHours);
  const isZone = typeof timeZone === "string" && isTimeZone(timeZone);
  expectName(
    "timeZone",
    isZone,
    "a time zone of the IANA database, such as Europe/Berlin",
    timeZone,
  );
  const arePolicies = Array.isArray(policies) && policies.length <= 20 && policies.every(isPolicy);
  expect(
    "policies",
    arePolicies,
    "a list of up to 20 policies, each with a name and evaluate(facts, tx)",
    policies,
  );
  const ruleNames: readonly string[] = arePolicies ? policies.map(({ name }) => name) : [];
  const taken = ["consent", "quiet_hours", ...ruleNames].find(
    (name, i, all) => all.indexOf(name) !== i,
  );
  expectName(
    "policies",
    taken === undefined,
    "policies with different names, none of them built in",
    taken,
  );
  const { http, webhooks = {} } = options;
  const isHttp = http === undefined || (has(http, "valueOf") && has(http.client, "send", "close"));
  expect("http", isHttp, '{ client }, such as httpClient() of "tidings/http-client"', http);
  const { allow = [] } = (isHttp ? http : undefined) ?? {};
  const isAllowed = Array.isArray(allow) && allow.length <= 1_000 && allow.every(isDestination);
  expect("http.allow", isAllowed, "a list of host names, addresses and networks", allow);
  const isWebhooks = typeof webhooks === "object" && webhooks !== null;
  expect("webhooks", isWebhooks, "an object", webhooks);
  const { deadlineSeconds = 15, ...noSuch } = isWebhooks ? webhooks : {};
  for (const name of Object.keys(noSuch)) {
    expectName(`webhooks.${name}`, false, "deadlineSeconds", name);
  }
  const isDeadline =
    Number.isInteger(deadlineSeconds) && deadlineSeconds >= 1 && deadlineSeconds <= 60;
  expect("webhooks.deadlineSeconds", isDeadline, "a whole number from 1 to 60", deadlineSeconds);
  const agents = agentSettings(options.agents, expect);
  const { webchat = {} } = options;
  const isWebchat = typeof webchat === "object" && webchat !== null;
  expect("webchat", isWebchat, "an object", webchat);
  const { origins = [], sessionHours = 24, ...unknown } = isWebchat ? webchat : {};
  for (const name of Object.keys(unknown)) {
    expectName(`webchat.${name}`, false, "origins or sessionHours", name);
  }
  const areOrigins = Array.isArray(origins) && origins.length <= 100 && origins.every(isOrigin);
  expect(
    "webchat.origins",
    areOrigins,
    'a list of origins, such as "https://shop.example"',
    origins,
  );
  const areSessionHours =
    Number.isInteger(sessionHours) && sessionHours >= 1 && sessionHours <= 720;
  expect("webchat.sessionHours", areSessionHours, "a whole number from 1 to 720", sessionHours);
  const settings: Settings = {
    storage,
    transports,
    routes,
    clock,
    random,
    logger,
    language,
    mode,
    limits: { ...defaultLimits, ...limits },
    sentiment,
    http:
      http === undefined || !isHttp || !isAllowed
        ? undefined
        : {
            client: http.client,
            destinations: {
              live: destinations({ allow }),
              sandbox: destinations({ allow, http: true }),
            },
          },
    webhooks: { deadlineSeconds },
    agents,
    webchat: { origins, sessionHours },
    concurrency: within("concurrency", 1, 1_000, 64),
    laneConcurrency: within("laneConcurrency", 1, 1_000, 16),
    idempotencyHours: within("idempotencyHours", 1, 720, 24),
    reopenHours: within("reopenHours", 1, 8_760, 24),
    eventRetentionDays: within("eventRetentionDays", 1, 3_650, 30),
    consent: { ...standardConsent, ...consent },
    quietHours,
    timeZone,
    policies,
  };
  if (wrong.length > 0) throw new TidingsError("invalid_option", wrong.join("; "));
  return settings;
}

const optionNames = [
  "storage",
  "transports",
  "routes",
  "clock",
  "random",
  "logger",
  "language",
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
  "agents",
  "webchat",
  "consent",
  "quietHours",
  "timeZone",
  "policies",
] as const satisfies readonly (keyof EngineOptions)[];

type NumericOption =
  "concurrency" | "laneConcurrency" | "idempotencyHours" | "reopenHours" | "eventRetentionDays";

type Expect = (name: string, holds: boolean, expected: string, came: unknown) => void;

function agentSettings(
  agents: AgentOptions | undefined,
  expect: Expect,
): AgentSettings | undefined {
  if (agents === undefined) return undefined;
  const isObject = typeof agents === "object" && agents !== null;
  expect("agents", isObject, '{ model }, such as rules() of "tidings/models"', agents);
  const {
    model,
    actions = [],
    redact = (text: string): string => text,
  } = isObject ? agents : ({} as Partial<AgentOptions>);
  const respond =
    typeof model === "function"
      ? model
      : has(model, "respond")
        ? model?.respond.bind(model)
        : undefined;
  expect(
    "agents.model",
    respond !== undefined,
    "a model, or a function that responds to a turn",
    model,
  );
  expect("agents.redact", typeof redact === "function", "a function that takes a text", redact);
  const areActions = Array.isArray(actions) && actions.length <= 200 && actions.every(isAction);
  expect("agents.actions", areActions, "a list of up to 200 actions", actions);
  const byName = new Map(areActions ? actions.map((action) => [action.name, action]) : []);
  expect(
    "agents.actions",
    !areActions || byName.size === actions.length,
    "actions with different names",
    actions,
  );
  const source = typeof model === "object" ? model.source : undefined;
  return respond && { model: { respond, source }, actions: byName, redact };
}

function has(value: unknown, ...methods: string[]): boolean {
  if (typeof value !== "object" || value === null) return false;
  return methods.every((method) => typeof Reflect.get(value, method) === "function");
}

function isTransport(value: unknown): value is Transport {
  if (!has(value, "send")) return false;
  const { name, capabilities } = value as {
    readonly name?: unknown;
    readonly capabilities?: unknown;
  };
  return typeof name === "string" && typeof capabilities === "object" && capabilities !== null;
}

/** Returns whether a consent option is valid, and what was expected. */
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
      return [false, "one of scope, honourNearMatches, optOutText, optInText and helpText"];
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

/** An origin as browsers send it: only scheme, host and port. */
function isOrigin(value: unknown): boolean {
  return typeof value === "string" && URL.canParse(value) && new URL(value).origin === value;
}

function isTextToSend(value: unknown): boolean {
  return (
    typeof value === "string" &&
    value.trim() !== "" &&
    value.length <= 1_600 &&
    value.isWellFormed()
  );
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

/** Describes a value without its contents, because an option may hold a secret. */
function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}
