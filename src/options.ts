import type { Destinations } from "./ports/destinations.ts";
import type { Action } from "./ports/action.ts";
import type { AgentModel } from "./ports/agent-model.ts";
import type { Clock } from "./ports/clock.ts";
import type { HttpClient } from "./ports/http-client.ts";
import type { Language } from "./ports/language.ts";
import type { Logger } from "./ports/logger.ts";
import type { Policy } from "./ports/policy.ts";
import type { Random } from "./ports/random.ts";
import type { Route } from "./ports/route.ts";
import type { SentimentAnalyzer } from "./ports/sentiment.ts";
import type { StoragePort } from "./ports/storage.ts";
import type { Transport } from "./ports/transport.ts";
import type { Mode } from "./kernel/scope.ts";

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

/** What thinks for agents, and what they can do in your world. */
export interface AgentOptions {
  /** Such as `rules()` or `languageModel(…)` of "tidings/models", or a function of your own. */
  readonly model: AgentModel | AgentModel["respond"];
  /** Your functions that agents may call, each by the name that an agent lists; up to 200. */
  readonly actions?: readonly Action[];
  /** Takes what is nobody's business out of a text before a model sees it: of messages, names, slots and observations. */
  readonly redact?: (text: string) => string;
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
  /** Which transports carry which messages, the first that fits; up to 100. By default each goes over its sender's. The same in all engines. */
  readonly routes?: readonly Route[];
  /** Time. By default the system's clock; tests give a virtual one: `simulated()` of "tidings/testing". */
  readonly clock?: Clock;
  /** Randomness for ids and secrets. By default the system's cryptographic generator. */
  readonly random?: Random;
  /**
   * Where the engine logs. By default warnings and errors go to stderr, one line each. Takes a pino
   * logger as it is.
   */
  readonly logger?: Logger;
  /**
   * Understands what contacts write to agents: whether they ask for a person, and their answers to
   * the questions of a playbook. By default `english()` of "tidings/language". Opt-out, opt-in and
   * help keywords do not depend on it.
   */
  readonly language?: Language;
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
  /** The time zone of accounts that have none of their own, such as the default one: an IANA name, `Europe/Berlin`. By default UTC. */
  readonly timeZone?: string;
  /** What AI agents think with and may do. Without it none answers or is enabled here; what contacts write waits for an engine that has it. */
  readonly agents?: AgentOptions;
  /** Your own rules of what may go out, beside consent and quiet hours; 20 at most. Every one of them is asked. */
  readonly policies?: readonly Policy<Tx>[];
}

/**
 * The ports that every engine has and that options may leave out. The package's entry gives the
 * defaults, since the core imports no adapter.
 */
export type DefaultPorts = Required<
  Pick<EngineOptions, "clock" | "random" | "logger" | "language">
>;

/** Options with everything decided. */
export interface Settings extends Required<
  Omit<
    EngineOptions,
    "limits" | "sentiment" | "http" | "webhooks" | "webchat" | "consent" | "quietHours" | "agents"
  >
> {
  readonly http: HttpSettings | undefined;
  readonly webhooks: Required<WebhookOptions>;
  readonly agents: AgentSettings | undefined;
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

export interface AgentSettings {
  readonly model: AgentModel;
  readonly actions: ReadonlyMap<string, Action>;
  readonly redact: (text: string) => string;
}

/** Null: no answer. */
export interface ConsentSettings extends Required<Omit<ConsentOptions, "helpText">> {
  readonly helpText: string | null;
}

export const standardConsent: ConsentSettings = {
  scope: "account",
  honourNearMatches: false,
  optOutText:
    "You have opted out and will get no more messages from us. Reply START to opt in again.",
  optInText: "You have opted in to messages from us. Reply STOP to opt out.",
  helpText: null,
};
