/**
 * The operations of the engine. A command changes data, a query reads it. The HTTP routes, the
 * in-process API and the OpenAPI document are derived from the same definitions.
 */
import type * as z from "zod";
import {
  getOrInsert,
  type GenerateId,
  type Limits,
  type RequestId,
  type Scope,
  type TidingsError,
} from "../kernel/index.ts";
import type { Clock, HostVerdicts } from "../ports/index.ts";
import type { Reads, Tx } from "../store/index.ts";
import type { Caller } from "./caller.ts";
import type { Services } from "./runtime.ts";
import type { TypingSignal } from "./signals.ts";

/** The context of a request: scope, caller and idempotency key. */
export interface Context {
  readonly scope: Scope;
  readonly caller: Caller;
  readonly request_id: RequestId;
  readonly idempotency_key: string | null;
  /** Until when work under the key may continue, in milliseconds since the epoch. */
  readonly busy_until?: number;
  /** The handle of an open transaction of the host application that the command joins. */
  readonly tx?: unknown;
}

/** The arguments of an operation besides its input. */
export interface Call extends Omit<Context, "tx"> {
  readonly services: Services;
  /** The verdicts of the host application's policies. */
  readonly hostVerdicts: HostVerdicts;
}

/** What a command's check may use. */
export interface CheckCall {
  readonly services: Services;
  readonly clock: Clock;
  /** Aborts at the deadline of a stop. */
  readonly stopDeadline: AbortSignal;
}

export interface Command<Input, Output> {
  readonly kind: "command";
  /**
   * The dotted name of the in-process call: `messages.send`. Part of the idempotency fingerprint.
   */
  readonly name: string;
  /** The schema of path parameters and body together. Created once per engine from its limits. */
  readonly input: (limits: Limits) => z.ZodType<Input>;
  readonly status: 200 | 201 | 202 | 204;
  /**
   * Checks an input with code of the host application, which may be asynchronous. Runs before the
   * transaction opens. Returns the error of an invalid input. A replay returns its stored response
   * whatever the check says, and the error is not stored.
   */
  check?(input: Input, call: CheckCall): Promise<TidingsError | undefined>;
  /** Prefetches what `run` reads first (`Tx.prefetch`), so that it takes one round trip. */
  prefetch?(tx: Tx, input: Input, services: Services): void;
  /** Runs in one transaction. May await only `tx`. */
  run(tx: Tx, input: Input, call: Call): Promise<Output>;
  /** Returns the output without secrets, for replays. */
  onReplay?(output: Output): Output;
  /**
   * Returns the id of the resource in the response if it can be erased or removed: a contact, a
   * message, a conversation, a note, a run, an observation, an event, a webchat session, a
   * delivery, an agent, a playbook, or the hash of an address. The stored response is erased when
   * the resource is erased or redacted. `output` is undefined for an error, which may quote a
   * policy of the host application. `showsNothing` if responses contain no such resource.
   */
  shows(input: Input, output: Output | undefined, call: Call): string | null;
  /**
   * Writes the resource that `shows` names for an error, without a change. The write conflicts with
   * an erasure or redaction of the resource, so that one of the two runs again and finds what the
   * other did. The command's own writes are rolled back when its error is stored.
   */
  touch?(tx: Tx, input: Input): Promise<void>;
  /**
   * True if the created message stores the idempotency key. The stored response is then found by
   * the key, without an index entry.
   */
  readonly storesKey?: true;
  /**
   * True if the command takes no idempotency key over HTTP, because repeating it changes nothing.
   */
  readonly takesNoKey?: true;
  /**
   * True if a reset of the sandbox leaves what the command did. The idempotency key then stays too.
   */
  readonly survivesReset?: true;
  /**
   * True if the command is one item of a list. Up to three other commands of callers go before each
   * item.
   */
  readonly isItem?: true;
}

/** `shows` of commands whose responses and errors contain no personal data. */
export const showsNothing = (): null => null;

/** `shows` of commands that return a resource. Their errors contain no personal data. */
export function showsOutput(
  _input: unknown,
  output: { readonly id: string } | undefined,
): string | null {
  return output?.id ?? null;
}

export interface Query<Input, Output> {
  readonly kind: "query";
  readonly name: string;
  /** The schema of path and query parameters together. Over HTTP both are strings. */
  readonly input: (limits: Limits) => z.ZodType<Input>;
  /** `now` is in milliseconds. */
  run(reads: Reads, input: Input, call: Call, now: number): Promise<Output>;
}

/**
 * An operation that only sends a signal to open streams. Within a second, only the first of equal
 * calls has an effect.
 */
export interface SignalOperation<Input> {
  readonly kind: "signal";
  readonly name: string;
  readonly input: (limits: Limits) => z.ZodType<Input>;
  readonly status: 204;
  /** Returns the signal, or undefined if nobody can see it. `now` is in milliseconds. */
  run(reads: Reads, input: Input, call: Call, now: number): Promise<TypingSignal | undefined>;
}

/**
 * An operation that is too large for one transaction. It runs many transactions, each complete in
 * itself. If it is interrupted, a retry runs it again and it continues.
 */
export interface Procedure<Input, Output> {
  readonly kind: "procedure";
  readonly name: string;
  readonly input: (limits: Limits) => z.ZodType<Input>;
  readonly status: 200 | 201 | 204;
  /**
   * Whether the whole response is stored under the idempotency key. If not, only the responses of
   * its steps are stored, and a replay assembles the response from them.
   */
  readonly storesResponse?: boolean;
  /** As for a command. */
  readonly survivesReset?: true;
  /**
   * Returns until when its work may continue, in milliseconds since the epoch. The lifetime of its
   * idempotency keys begins then.
   */
  until?(input: Input): number;
  run(steps: Steps, input: Input, call: Call): Promise<Output>;
}

/** An operation that changes data, and that an idempotency key can protect from repetition. */
export type Change<Input, Output> = Command<Input, Output> | Procedure<Input, Output>;

/**
 * A procedure for a stream of rows of any length. It holds only a few rows in memory. A row that
 * could not be parsed arrives as a `TidingsError` with the reason. Reports are yielded in the order
 * of the rows, and the total is returned at the end.
 */
export interface RowProcedure<Report, Total> {
  readonly kind: "rows";
  readonly name: string;
  run(
    steps: ItemSteps,
    rows: Iterable<unknown> | AsyncIterable<unknown>,
    call: Call,
  ): AsyncGenerator<Report, Total>;
}

/** What a procedure does with each of its items. */
export interface ItemSteps {
  /**
   * Runs one command as a step of the procedure. Under an idempotency key each step has its own
   * derived key, so a completed step is replayed and not run again.
   */
  execute<Input, Output>(
    command: Command<Input, Output>,
    input: Input,
    step: number,
  ): Promise<Outcome<Output>>;
  /** Lets other work run. An item that is refused before its step is executed waits for nothing. */
  yieldToEventLoop(): Promise<void>;
}

export interface Steps extends ItemSteps {
  readonly reads: Reads;
  readonly drawId: GenerateId;
  /** Runs one transaction. */
  commit<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
}

/** The outcome of an operation. `body` is `value` as JSON. Each replay returns the same bytes. */
export interface Outcome<Output> {
  readonly status: number;
  readonly value: Output;
  readonly body: string;
  readonly replayed: boolean;
}

const inputSchemas = new WeakMap<Limits, Map<unknown, z.ZodType>>();

/**
 * Returns the input schema of an operation. Creating it is expensive, so it is cached per limits.
 */
export function inputSchema<Input>(
  { input }: { readonly input: (limits: Limits) => z.ZodType<Input> },
  limits: Limits,
): z.ZodType<Input> {
  const cached = getOrInsert(inputSchemas, limits, () => new Map());
  return getOrInsert(cached, input, () => input(limits)) as z.ZodType<Input>;
}
