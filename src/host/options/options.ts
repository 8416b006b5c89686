import type { AgentSettings } from "../../agents/index.ts";
import type { Checked, Limits, Mode } from "../../kernel/index.ts";
import type {
  ConsentOptions,
  ConsentSettings,
  HistoryChunks,
  QuietHours,
} from "../../operations/index.ts";
import type {
  AgentModel,
  Clock,
  Language,
  Logger,
  Policy,
  Random,
  Route,
  SentimentAnalyzer,
  StoragePort,
  Transport,
} from "../../ports/index.ts";
import type { WebchatOptions } from "../../webchat/index.ts";
import type { HttpOptions, HttpSettings, WebhookOptions } from "../../webhooks/index.ts";
import type { Action } from "../actions.ts";

/**
 * The options of an engine. `Tx` is the type of the storage's transaction handle. It is undefined
 * when the storage has no transactions for your own statements.
 */
export interface EngineOptions<Tx extends object | undefined = object | undefined> {
  /**
   * Where the engine keeps its data: `sqlite({ file })` of "tidings/sqlite", `postgres({ pool })`
   * of "tidings/postgres" or `memory()` of "tidings/memory".
   */
  readonly storage: StoragePort<Tx>;
  /**
   * The carriers that the engine can use, such as `sandbox()` of "tidings/sandbox" or `twilio()` of
   * "tidings/twilio". At least one. Each needs a different `name`. Webchat uses none of them.
   */
  readonly transports: readonly Transport[];
  /**
   * Rules that choose a transport for each message, up to 100. The first match wins. By default the
   * sender's transport is used. All engines on one storage need the same routes.
   */
  readonly routes?: readonly Route[] | undefined;
  /**
   * Source of time. The default is the system clock. Tests pass a virtual clock: `simulated()` of
   * "tidings/testing".
   */
  readonly clock?: Clock | undefined;
  /**
   * Source of randomness for ids and secrets. The default is the system's cryptographic generator.
   */
  readonly random?: Random | undefined;
  /**
   * Receives the engine's logs. The default writes warnings and errors to stderr, one line each. A
   * pino logger fits without an adapter.
   */
  readonly logger?: Logger | undefined;
  /**
   * Interprets what contacts write to agents: requests for a person, and answers to a playbook's
   * questions. The default is `english()` of "tidings/language". Opt-out, opt-in and help keywords
   * do not depend on it.
   */
  readonly language?: Language | undefined;
  /**
   * The mode of `engine.messages` and the engine's other handles. Going live is an explicit choice.
   * @default "sandbox"
   */
  readonly mode?: Mode | undefined;
  /**
   * Maximum sizes of bodies, texts, media, batches and metadata. A limit that is left out has its
   * value in `defaultLimits`.
   */
  readonly limits?: { readonly [Name in keyof Limits]?: Limits[Name] | undefined } | undefined;
  /**
   * Scores the sentiment of inbound messages, such as `sentiment()` of "tidings/sentiment". Without
   * an analyzer, no message is scored.
   */
  readonly sentiment?: SentimentAnalyzer | undefined;
  /**
   * How many jobs run at once, 1 to 1,000, without webhooks and agent turns, which have their own
   * limits. One transport uses at most three quarters of them, so a transport that hangs does not
   * block the rest.
   * @default 256
   */
  readonly concurrency?: number | undefined;
  /**
   * How many jobs of one lane run at once, 1 to 1,000, such as the hand-overs of one account in one
   * mode over one transport. A slow lane gets a quarter. Batched and marketing messages leave an
   * eighth free for single transactional ones, and always have an eighth.
   * @default 64
   */
  readonly laneConcurrency?: number | undefined;
  /**
   * How long an idempotency key is kept, 1 to 720 hours.
   * @default 24
   */
  readonly idempotencyHours?: number | undefined;
  /**
   * An inbound message within this many hours after a conversation was closed reopens it, 1 to
   * 8,760. A later message begins a new conversation.
   * @default 24
   */
  readonly reopenHours?: number | undefined;
  /**
   * How long events are kept, 1 to 3,650 days.
   * @default 30
   */
  readonly eventRetentionDays?: number | undefined;
  /**
   * How long agents' runs are kept after they ended, 1 to 3,650 days. A run is kept at least as
   * long as its events. Old versions of agents and playbooks are kept this long after they were
   * replaced, and longer while a conversation or a run uses them.
   * @default 30
   */
  readonly runRetentionDays?: number | undefined;
  /**
   * The HTTP client for webhooks. Without it, webhooks cannot be created, and deliveries wait for
   * an engine that has one.
   */
  readonly http?: HttpOptions | undefined;
  /** How webhooks are delivered. */
  readonly webhooks?: WebhookOptions | undefined;
  /** Which web pages may connect as visitors, and how long a session lasts. */
  readonly webchat?: WebchatOptions | undefined;
  /** How opt-outs are recorded and confirmed. */
  readonly consent?: ConsentOptions | undefined;
  /**
   * The hours in which marketing messages wait, in the recipient's time zone, or the account's if
   * that is unknown. An account can have its own `quiet_hours`. By default there are none.
   */
  readonly quietHours?: QuietHours | undefined;
  /**
   * The IANA time zone, such as `Europe/Berlin`, of accounts that have none.
   * @default "UTC"
   */
  readonly timeZone?: string | undefined;
  /**
   * The model and actions of AI agents. Without this option, agents cannot be enabled here, and
   * agent turns wait for an engine on the same storage that has it.
   */
  readonly agents?: AgentOptions | undefined;
  /**
   * Your own policies: each allows, denies or defers a message, in addition to consent and quiet
   * hours. At most 20. Every policy is evaluated. The first denial decides, otherwise the latest
   * deferral.
   */
  readonly policies?: readonly Policy<NoInfer<Tx>>[] | undefined;
}

/** The model of the agents, and the actions that they may call. */
export interface AgentOptions {
  /** For example `rules()` or `languageModel(…)` from "tidings/models", or your own function. */
  readonly model: AgentModel | AgentModel["respond"];
  /** Functions that agents may call. An agent lists the names of its actions. At most 200. */
  readonly actions?: readonly Action[] | undefined;
  /**
   * Removes private data from messages, names, slots and observations before the model sees them.
   * Default: no change.
   */
  readonly redact?: ((text: string) => string) | undefined;
}

/** Options of `engine.account`. */
export interface AccountOptions {
  /** The mode of the handle. The default is the engine's option `mode`. */
  readonly mode?: Mode | undefined;
}

/**
 * The ports that options may leave out. The package's entry point passes the defaults, because the
 * core imports no adapter.
 */
export interface Defaults extends Checked<
  Pick<EngineOptions, "clock" | "random" | "logger" | "language">
> {
  /** Not an option, but tests use small numbers. Default: `standardHistoryChunks`. */
  readonly historyChunks?: HistoryChunks;
}

/** Checked options with all defaults filled in. */
export interface Settings extends Checked<
  Omit<
    EngineOptions,
    "limits" | "sentiment" | "http" | "webhooks" | "webchat" | "consent" | "quietHours" | "agents"
  >
> {
  readonly http: HttpSettings | undefined;
  readonly webhooks: Checked<WebhookOptions>;
  readonly agents: AgentSettings | undefined;
  readonly webchat: Checked<WebchatOptions>;
  readonly sentiment: SentimentAnalyzer | undefined;
  readonly limits: Limits;
  readonly consent: ConsentSettings;
  readonly quietHours: QuietHours | null;
  readonly historyChunks: HistoryChunks;
}

/** Options of `engine.stop`. */
export interface StopOptions {
  /**
   * How long running work and then the transports may take to end, in milliseconds: a whole number
   * up to 3,600,000 (one hour).
   * @default 10000
   */
  readonly deadlineMs?: number | undefined;
}
