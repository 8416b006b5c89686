import type { Limits, Mode } from "../kernel/index.ts";
import type { ConsentOptions, ConsentSettings, QuietHours } from "../operations/index.ts";
import type { WebchatOptions } from "../webchat/index.ts";
import type { HttpOptions, HttpSettings, WebhookOptions } from "../webhooks/index.ts";
import type { AgentOptions, AgentSettings } from "../agents/index.ts";
import type {
  Clock,
  Language,
  Logger,
  Policy,
  Random,
  Route,
  SentimentAnalyzer,
  StoragePort,
  Transport,
} from "../ports/index.ts";

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
