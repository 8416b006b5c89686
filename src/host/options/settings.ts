import * as z from "zod";
import type { AgentSettings } from "../../agents/index.ts";
import {
  booleanOption,
  choiceOption,
  defaultLimits,
  functionOption,
  hasMethods,
  isTimeZone,
  listOption,
  option,
  optionsObject,
  originOption,
  parseOptions,
  portOption,
  quoted,
  show,
  wholeOption,
  type Limits,
} from "../../kernel/index.ts";
import {
  answerText,
  standardConsent,
  standardHistoryChunks,
  timeOfDay,
  type ConsentSettings,
} from "../../operations/index.ts";
import {
  actionOption,
  errorLogger,
  languageMethods,
  webchatTransportName,
  type Clock,
  type Language,
  type Logger,
  type Policy,
  type Random,
  type SentimentAnalyzer,
  type StoragePort,
} from "../../ports/index.ts";
import { http } from "./http-option.ts";
import { modeOption } from "./method-arguments.ts";
import type { AgentOptions, Defaults, EngineOptions, Settings } from "./options.ts";
import { route } from "./route-option.ts";
import { transport, transportNames } from "./transport-option.ts";

/**
 * Checks the options and fills in defaults.
 * @throws TidingsError `invalid_option` with the name, the expected value and the given value of
 *   each invalid option
 */
export function settingsOf<Tx extends object | undefined>(
  options: EngineOptions<Tx>,
  defaults: Defaults,
): Settings {
  const schema = optionsSchema(transportNames(options));
  const given = parseOptions("", schema, options);
  const { sentiment, http, agents, logger = defaults.logger } = given;
  const { clock = defaults.clock, random = defaults.random, language = defaults.language } = given;
  const { historyChunks = standardHistoryChunks } = defaults;
  const ports = { clock, random, language, logger: errorLogger(logger) };
  return { ...given, ...ports, sentiment, http, agents, historyChunks };
}

/** An object that may be left out. Then all its fields have their defaults. */
const group = <S extends z.ZodRawShape>(shape: S) =>
  optionsObject(shape).prefault({} as z.input<z.ZodObject<S, z.core.$strict>>);

const timeOption = option<string>(
  'a time of day as "HH:MM"',
  (value) => timeOfDay.safeParse(value).success,
  { isQuoted: true },
);

const policy = option<Policy>(
  "a policy with a name and a method evaluate",
  (given) => typeof given === "object" && given !== null,
).superRefine((given, context) => {
  const { name, evaluate }: { readonly [K in keyof Policy]: unknown } = given;
  const problem = (path: string, message: string, got: unknown): void =>
    context.addIssue({ code: "custom", path: [path], message, params: { got: show(got) } });
  if (typeof name !== "string" || !/^[a-z][a-z0-9_]{0,63}$/.test(name)) {
    problem("name", 'a lower-case letter and up to 63 lower-case letters, digits and "_"', name);
  }
  if (typeof evaluate !== "function") problem("evaluate", "a function", evaluate);
});

const textToSend = option<string>(
  "a string of 1 to 1,600 characters",
  (text) => answerText.safeParse(text).success,
  {
    advice: (text) => {
      if (typeof text !== "string") return "";
      if (text.trim() === "") return " that is blank";
      return text.isWellFormed() && !text.includes("\0")
        ? ` of ${[...text].length} characters`
        : " with NUL or half a surrogate pair";
    },
  },
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

const nonEmpty =
  (expected: string) =>
  (all: readonly unknown[], context: z.RefinementCtx): void => {
    if (all.length > 0) return;
    context.addIssue({ code: "custom", message: expected, params: { got: "an empty list" } });
  };

const excludes =
  (name: string, expected: string) =>
  (all: readonly Named[], context: z.RefinementCtx): void => {
    if (!all.some((each) => each.name === name)) return;
    context.addIssue({ code: "custom", message: expected, params: { got: quoted(name) } });
  };

const limit = (name: keyof Limits) =>
  option<number>(
    "a whole number above 0",
    (given) => Number.isSafeInteger(given) && Number(given) > 0,
  ).default(defaultLimits[name]);

const limits = group({
  bodyBytes: limit("bodyBytes"),
  batchBodyBytes: limit("batchBodyBytes"),
  messageCharacters: limit("messageCharacters"),
  mediaItems: limit("mediaItems"),
  batchItems: limit("batchItems"),
  importRows: limit("importRows"),
  metadataKeys: limit("metadataKeys"),
  metadataCharacters: limit("metadataCharacters"),
  jsonDepth: limit("jsonDepth"),
} satisfies Record<keyof Limits, z.ZodType>).transform(sharedIfDefault);

/** Engines with the default limits share one object, and so the schemas that are cached for it. */
function sharedIfDefault(given: Limits): Limits {
  const names = Object.keys(defaultLimits) as (keyof Limits)[];
  return names.every((name) => given[name] === defaultLimits[name]) ? defaultLimits : given;
}

const agents = optionsObject(
  {
    model: option<AgentOptions["model"]>(
      'a model, such as rules() of "tidings/models", or a function that responds to a turn',
      (model) => typeof model === "function" || hasMethods(model, "respond"),
      {
        // Every version of the AI SDK's models has this method.
        advice: (model) =>
          hasMethods(model, "doGenerate") ? '. Pass languageModel(model) of "tidings/models".' : "",
      },
    ),
    actions: listOption("actions", actionOption, 200)
      .superRefine(distinct("actions with different names"))
      .default(() => []),
    redact: functionOption<(text: string) => string>("a function that takes a string").default(
      () => (text: string) => text,
    ),
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
  scope: choiceOption<ConsentSettings["scope"]>("account", "sender").default(standardConsent.scope),
  honorNearMatches: booleanOption.default(standardConsent.honorNearMatches),
  optOutText: textToSend.default(standardConsent.optOutText),
  optInText: textToSend.default(standardConsent.optInText),
  helpText: textToSend.optional().transform((text) => text ?? standardConsent.helpText),
});

const policies = listOption("policies", policy, 20)
  .superRefine(
    distinct(
      "policies whose names differ from each other and from the built-in ones (consent, " +
        "quiet_hours, recipient)",
      "consent",
      "quiet_hours",
      "recipient",
    ),
  )
  .default(() => []);

/** Few engines have routes, and their schema takes long to build. */
const routesOver = (transports: readonly string[]) => {
  const item = z.lazy(() => route(transports));
  return listOption("routes", item, 100).default(() => []);
};

/**
 * All options but the routes. Built once, since it takes longer than the rest of an engine's
 * construction.
 */
const shape = {
  storage: portOption<StoragePort>(
    'a storage: sqlite({ file }) of "tidings/sqlite", or postgres({ pool }) of ' +
      '"tidings/postgres"',
    "begin",
    "open",
  ),
  transports: listOption('transports, such as [sandbox()] of "tidings/sandbox"', transport)
    .superRefine(nonEmpty('at least one transport, such as sandbox() of "tidings/sandbox"'))
    .superRefine(distinct("transports with different names"))
    .superRefine(excludes(webchatTransportName, "no transport with the engine's built-in name")),
  clock: portOption<Clock>(
    "a clock with the methods now, monotonic and sleep",
    "now",
    "monotonic",
    "sleep",
  ).optional(),
  random: portOption<Random>("a source of randomness with a method bytes", "bytes").optional(),
  logger: portOption<Logger>(
    "a logger with the methods debug, info, warn and error",
    "debug",
    "info",
    "warn",
    "error",
  ).optional(),
  language: portOption<Language>(
    'a language, such as english() of "tidings/language"',
    ...languageMethods,
  ).optional(),
  mode: modeOption.default("sandbox"),
  limits,
  sentiment: portOption<SentimentAnalyzer>("an analyzer with a method score", "score").optional(),
  concurrency: wholeOption(1, 1_000).default(256),
  laneConcurrency: wholeOption(1, 1_000).default(64),
  idempotencyHours: wholeOption(1, 720).default(24),
  reopenHours: wholeOption(1, 8_760).default(24),
  eventRetentionDays: wholeOption(1, 3_650).default(30),
  runRetentionDays: wholeOption(1, 3_650).default(30),
  http: http.optional(),
  webhooks: group({ deadlineSeconds: wholeOption(1, 60).default(15) }),
  agents: agents.optional(),
  webchat: group({
    origins: listOption("origins", originOption, 100).default(() => []),
    sessionHours: wholeOption(1, 720).default(24),
  }),
  consent,
  quietHours: optionsObject({ from: timeOption, to: timeOption }, '{ from, to } as "HH:MM"')
    .nullable()
    .default(null),
  timeZone: option<string>(
    "a time zone of the IANA database, such as Europe/Berlin",
    (zone) => typeof zone === "string" && isTimeZone(zone),
    { isQuoted: true },
  ).default("UTC"),
  policies,
} satisfies Record<Exclude<keyof EngineOptions, "routes">, z.ZodType>;

/** The schema of the options of an engine with these transports. */
const optionsSchema = (transports: readonly string[]) =>
  optionsObject({ ...shape, routes: routesOver(transports) });
