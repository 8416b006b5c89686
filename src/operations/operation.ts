import type { ContactActivity } from "./contact-activity.ts";
/**
 * What the engine can do, described once: a command changes something, a query reads. HTTP routes, the in-process API and the
 * OpenAPI document are three views of these.
 */
import type { KeyObject } from "node:crypto";
import type { z } from "zod";
import type {
  Action,
  Destinations,
  HostOpinions,
  Language,
  Random,
  Route,
  Transport,
} from "../ports/index.ts";
import type {
  DrawId,
  KeyId,
  Limits,
  Mode,
  RequestId,
  Scope,
  WebchatSessionId,
} from "../kernel/index.ts";
import type { ConsentSettings, QuietHours } from "./consent-settings.ts";
import type { HookHandler } from "./hooks.ts";
import type { Signal } from "../queue/index.ts";
import type { Reads, Tx } from "../store/index.ts";

/** Who asks: an API key or a visitor's browser over HTTP, or the host in process, who may do everything in its scope. */
export type Caller = KeyCaller | VisitorCaller | { readonly type: "host" };

/** It may do what concerns its session, and nothing else. */
export interface VisitorCaller {
  readonly type: "visitor";
  readonly session_id: WebchatSessionId;
}

export interface KeyCaller {
  readonly type: "key";
  readonly key_id: KeyId;
  readonly scopes: readonly string[];
  /** When the key ends, in milliseconds; null: never. */
  readonly expires_at: number | null;
  /** Of the secret that the key was shown by: it may end before the key. */
  readonly secret_hash: string;
}

/** What an operation is given beside its input. */
export interface Call {
  readonly scope: Scope;
  readonly caller: Caller;
  readonly request_id: RequestId;
  /** The caller's idempotency key, so that a resource can show it. */
  readonly idempotency_key: string | null;
  /** Until when what is done under the key may go on, in milliseconds, where that is longer than keys are remembered. */
  readonly busy_until?: number;
  readonly services: Services;
  /** What the host's policies say of the message that this is about. */
  readonly hostOpinions: HostOpinions;
}

/** What the engine was wired with, as far as decisions depend on it. Nothing here does I/O. */
export interface Services {
  readonly drawId: DrawId;
  readonly random: Random;
  readonly limits: Limits;
  readonly transports: readonly Transport[];
  readonly routes: readonly Route[];
  readonly consent: ConsentSettings;
  readonly quietHours: QuietHours | null;
  /** Understands what contacts write. */
  readonly language: Language;
  /** Of accounts that have none of their own. */
  readonly timeZone: string;
  /** How long after it was closed an inbound opens a conversation again, in milliseconds. */
  readonly reopenMs: number;
  /** How long a visitor's session lasts, in milliseconds. */
  readonly webchatSessionMs: number;
  /** Where webhooks may lead; undefined where no client is set up, and nothing can be sent. */
  readonly destinations: Readonly<Record<Mode, Destinations>> | undefined;
  /** Whether something thinks for agents here: without it none is enabled. */
  readonly hasAgents: boolean;
  /** What agents may do, by name. */
  readonly actions: ReadonlyMap<string, Action>;
  /** Whether there is an analyzer: without one nothing is written down to be scored. */
  readonly scoresSentiment: boolean;
  /** When contacts last had a message. */
  readonly contactActivity: ContactActivity;
  /** What the modules do at each other's hooks, in the order of the modules. */
  readonly hookHandlers: readonly HookHandler[];
  /** Creates what the sandbox of a new account starts with. `tx` is in the scope of that sandbox. */
  readonly setUpSandbox: (tx: Tx, drawId: DrawId) => void;
  /** Whether what a request made is still in progress: until then its idempotency key is kept. */
  readonly isInProgress: (tx: Tx, id: string) => Promise<boolean>;
  /** The key of keyed hashes (fingerprints, cursors, erased addresses): 32 bytes that never leave the storage. */
  readonly secret: KeyObject;
}

export interface Command<Input, Output> {
  readonly kind: "command";
  /** In dots, as it is called in process: `messages.send`. Part of the idempotency fingerprint. */
  readonly name: string;
  /** Path parameters and body in one. Made once for an engine from its limits; parses `unknown`, whoever calls. */
  readonly input: (limits: Limits) => z.ZodType<Input>;
  readonly status: 200 | 201 | 202 | 204;
  /** Runs in one transaction: awaits `tx` and nothing else. */
  run(tx: Tx, input: Input, call: Call): Promise<Output>;
  /** The answer without its secrets, which a replay shows. */
  onReplay?(output: Output): Output;
  /**
   * The id of what the answer shows of a person: a contact, a message, a conversation, a note, a run, an observation, an event, or
   * the hash of an address. The stored answer is erased when that is erased or redacted. `output` is undefined for a refusal,
   * which may quote a policy of the host application. Absent for commands whose answers show nothing of a person.
   */
  shows?(input: Input, output: Output | undefined, call: Call): string | null;
  /** True when the created message stores the idempotency key: then the stored answer is found by it, without an index entry. */
  readonly storesKey?: true;
}

/** For commands that return the resource that they show. Their refusals show nothing. */
export function showsOutput(
  _input: unknown,
  output: { readonly id: string } | undefined,
): string | null {
  return output?.id ?? null;
}

export interface Query<Input, Output> {
  readonly kind: "query";
  readonly name: string;
  /** Path and query parameters in one; the latter are strings over HTTP, so numbers are coerced. */
  readonly input: (limits: Limits) => z.ZodType<Input>;
  /** `now` is in milliseconds. */
  run(reads: Reads, input: Input, call: Call, now: number): Promise<Output>;
}

/**
 * What is too big for one transaction: many, each complete in itself. Cut off in between, it is run again and goes on.
 */
export interface Procedure<Input, Output> {
  readonly kind: "procedure";
  readonly name: string;
  readonly input: (limits: Limits) => z.ZodType<Input>;
  readonly status: 200 | 201 | 204;
  /** Whether its answer is kept under an idempotency key. Else its steps keep theirs, and it is put together again of those. */
  readonly keepsAnswer?: boolean;
  /** Until when its work may go on, in milliseconds: its idempotency keys are remembered from then on for their usual time. */
  until?(input: Input): number;
  run(steps: Steps, input: Input, call: Call): Promise<Output>;
}

/**
 * The same for rows that come one by one, however many: few of them are held at a time. A row that couldn't be read comes as the
 * `TidingsError` that says why. Reports come in the order of the rows; what they come to is returned at the end.
 */
export interface RowProcedure<Report, Total> {
  readonly kind: "rows";
  readonly name: string;
  run(
    steps: Pick<Steps, "execute">,
    rows: Iterable<unknown> | AsyncIterable<unknown>,
    call: Call,
  ): AsyncGenerator<Report, Total>;
}

export interface Steps {
  readonly reads: Reads;
  /** One transaction. */
  commit<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * One command as a part of the procedure. Under an idempotency key each step has its own claim, so a step that was done is answered
   * and not done again.
   */
  execute<Input, Output>(
    command: Command<Input, Output>,
    input: Input,
    step: number,
  ): Promise<Outcome<Output>>;
}

/**
 * What happens from now on, or from where the caller left off. What is wrong with the input is thrown before it begins; it ends when
 * `signal` aborts.
 */
export interface EventStream<Input> {
  readonly kind: "stream";
  readonly name: string;
  readonly input: (limits: Limits) => z.ZodType<Input>;
  /** Done before it is opened, with the same input, for as long as it answers that there is more: who comes again tells what it had. */
  readonly before?: Command<Input, boolean>;
  open(
    sources: StreamSources,
    input: Input,
    call: Call,
    signal: AbortSignal,
  ): Promise<AsyncIterable<StreamEvent>>;
}

export interface StreamSources {
  readonly reads: Reads;
  readonly now: () => number;
  /**
   * Raised whenever something may have been committed, of a mailbox where one is named, else of events. Of the stream alone, which lets go
   * of it when it ends.
   * @throws TidingsError `overloaded` when too many streams are open
   */
  readonly news: (mailbox?: string) => News;
  /** Whether the stream may tell of more: not when the engine stops, or the caller's key has ended. */
  readonly goesOn: () => Promise<boolean>;
  /** Lets the event loop do what else is pending: an embedded storage answers reads without doing so. */
  readonly turn: () => Promise<void>;
}

export interface News {
  readonly signal: Signal;
  /** Whether the stream has to make room: newer ones of its mailbox have come. */
  readonly isOver: () => boolean;
  readonly leave: () => void;
}

/** One event of a `text/event-stream` (WHATWG HTML, section 9.2). */
export interface StreamEvent {
  /** What the client sends as `Last-Event-ID` when it comes again. */
  readonly id?: string;
  readonly event?: string;
  /** May have several lines. Without data nothing is dispatched: a comment or a retry alone. */
  readonly data?: string;
  /** Milliseconds that the client waits before it comes again. */
  readonly retry?: number;
  /** Seen by nobody; keeps proxies from closing a quiet connection. */
  readonly comment?: string;
}

/** How a command came out. `body` is the JSON of `value`, and the same bytes at each replay. */
export interface Outcome<Output> {
  readonly status: number;
  readonly value: Output;
  readonly body: string;
  readonly replayed: boolean;
}

const inputSchemas = new WeakMap<Limits, Map<unknown, z.ZodType>>();

/** The schema of an operation's input. It depends on the limits and costs more to make than to use, so it is made once. */
export function inputSchema<Input>(
  { input }: { readonly input: (limits: Limits) => z.ZodType<Input> },
  limits: Limits,
): z.ZodType<Input> {
  let known = inputSchemas.get(limits);
  if (known === undefined) inputSchemas.set(limits, (known = new Map<unknown, z.ZodType>()));
  let schema = known.get(input) as z.ZodType<Input> | undefined;
  if (schema === undefined) known.set(input, (schema = input(limits)));
  return schema;
}
