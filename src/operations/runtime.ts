import type { KeyObject } from "node:crypto";
import type { ContactId, Limits, LogLimit, Mode } from "../kernel/index.ts";
import type {
  ActionPort,
  Clock,
  Destinations,
  Language,
  Logger,
  Random,
  Route,
  SentimentAnalyzer,
  Transport,
} from "../ports/index.ts";
import type { Reads, Store, Tx } from "../store/index.ts";
import type { ConsentSettings, QuietHours } from "./consent-options.ts";
import type { HostPolicies } from "./execution/host-policies.ts";
import type { Signals } from "./signals.ts";
import type { FactsByTransport } from "./transport-facts.ts";

/**
 * The dependencies of a running engine. Jobs receive it as one object. A module that needs more
 * extends it, as `AgentRuntime` does.
 */
export interface Runtime {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly transports: readonly Transport[];
  readonly sentiment: SentimentAnalyzer | undefined;
  /**
   * How long agents' runs are kept after they ended, and old versions of agents and playbooks after
   * their last use, in days.
   */
  readonly runRetentionDays: number;
  /** The dependencies of operations. */
  readonly services: Services;
  /** Evaluates the host application's policies. */
  readonly hostPolicies: HostPolicies;
  /** Tells streams what is not stored. */
  readonly signals: Signals;
  /** Bounds the log lines about refusals. Its subjects are errors of transports. */
  readonly refusals: LogLimit;
}

/** The handler of a higher module for a hook. It runs in the transaction that runs the hook. */
export interface HookHandler {
  readonly hook: string;
  run(tx: Tx, facts: object, services: Services): Promise<void>;
}

/** The dependencies and settings of operations. Nothing here does I/O except through `tx`. */
export interface Services {
  readonly random: Random;
  readonly limits: Limits;
  readonly transports: readonly Transport[];
  readonly factsByTransport: FactsByTransport;
  readonly routes: readonly Route[];
  readonly consent: ConsentSettings;
  readonly quietHours: QuietHours | null;
  /** Interprets the messages of contacts. */
  readonly language: Language;
  /** The IANA time zone of accounts without their own. */
  readonly timeZone: string;
  /** How long after its closing an inbound message reopens a conversation, in milliseconds. */
  readonly reopenMs: number;
  /** How long events and deliveries are kept, in milliseconds. */
  readonly eventsKeptMs: number;
  /** How long a visitor's session lasts, in milliseconds. */
  readonly webchatSessionMs: number;
  /** The allowed destinations of webhooks. Undefined if the engine has no HTTP client. */
  readonly destinations: Readonly<Record<Mode, Destinations>> | undefined;
  /** Whether the engine has an agent model. Without one no agent can be enabled. */
  readonly hasAgents: boolean;
  /** The actions that agents may call, by name. */
  readonly actions: ReadonlyMap<string, ActionPort>;
  /**
   * Whether the engine has a sentiment analyzer. Without one no messages are queued for scoring.
   */
  readonly scoresSentiment: boolean;
  /** Finds the last activity of contacts. */
  readonly contactActivity: ContactActivity;
  /** The hook handlers of all modules, in the order of the modules. */
  readonly hookHandlers: readonly HookHandler[];
  /** Creates the initial data of a new account's sandbox. `tx` is in the scope of that sandbox. */
  readonly setUpSandbox: (tx: Tx) => void;
  /**
   * Whether a resource is in progress. Until it ends, the idempotency key that created it is kept.
   */
  readonly isInProgress: (tx: Tx, id: string) => Promise<boolean>;
  /**
   * The key of keyed hashes (fingerprints, cursors, erased addresses): 32 bytes kept in the
   * storage.
   */
  readonly secret: KeyObject;
  readonly historyChunks: HistoryChunks;
}

/**
 * The number of rows that one transaction handles when the history of a contact is erased or
 * merged, or a message is redacted. Tests use small numbers, so that short histories take several
 * transactions.
 */
export interface HistoryChunks {
  /** Rows of each kind that a merge moves. */
  readonly moved: number;
  /** Rows of each kind: messages, conversations, runs, scores, observations, events. */
  readonly rows: number;
  /** Rows of each kind that belong to one message or conversation, except runs. */
  readonly parts: number;
  /** Webhook deliveries of events, together with their attempts. */
  readonly deliveries: number;
  /** Stored responses that show one resource. */
  readonly responses: number;
}

export const standardHistoryChunks: HistoryChunks = {
  moved: 100,
  rows: 50,
  parts: 200,
  deliveries: 500,
  responses: 200,
};

/** The activity of a contact, stored in its current conversation to avoid writes to the contact. */
export interface Activity {
  readonly contact_id: ContactId;
  readonly message_count: number;
  /** In milliseconds since the epoch. */
  readonly last_activity_at: number;
}

/**
 * Finds the activity in the current conversations of contacts. The conversations module provides
 * it.
 */
export interface ContactActivity {
  /** Returns the activity of a contact as the transaction sees it. */
  of(tx: Tx, contact: ContactId): Promise<readonly Activity[]>;
  /** Returns the activity of a page of contacts in one round trip. */
  ofAll(reads: Reads, contacts: readonly ContactId[]): Promise<readonly Activity[]>;
}
