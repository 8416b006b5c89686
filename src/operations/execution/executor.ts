/**
 * Executes operations. A command claims its idempotency key, writes its data and stores its
 * response in one transaction, so it is never half done under a key. If two requests with one key
 * race, one commits. The other runs again, finds the stored response and returns it.
 */
import { noVerdicts } from "./host-policies.ts";
import {
  isRemembered,
  AnsweredMeanwhile,
  keyReused,
  refuseIfAnswered,
  replay,
  type CommandResult,
  storedProblem,
  storedResponse,
} from "./stored-responses.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { idempotency, idempotencyByKey, type IdempotencyRow } from "./rows.ts";
import { maxScheduleAhead, TidingsError, hourMs } from "../../kernel/index.ts";
import type {
  Call,
  Command,
  Context,
  ItemSteps,
  Outcome,
  Procedure,
  Query,
  RowProcedure,
  SignalOperation,
} from "../operation.ts";
import { ProcedureSteps } from "./procedure-steps.ts";
import { RecentSignals, type Signals } from "../signals.ts";
import type { EventStream, OpenSources, StreamEvent } from "../event-stream.ts";
import { authorOf } from "../caller.ts";
import type { Runtime } from "../runtime.ts";
import type { Tx } from "../../store/index.ts";

interface ExecutorRuntime extends Pick<Runtime, "store" | "clock" | "services" | "hostPolicies"> {
  /** How long an idempotency key is remembered, in hours. */
  readonly idempotencyHours: number;
  readonly signals: Signals;
  /** Aborts at the deadline of a stop. */
  readonly stopDeadline: AbortSignal;
}

/** The idempotency key that a command claims. */
interface ClaimedKey {
  readonly key: string;
  readonly fingerprint: string;
  /** The error of the command's check, if the input is invalid. */
  readonly refusal: TidingsError | undefined;
}

export class Executor {
  readonly #runtime: ExecutorRuntime;
  readonly #recentSignals: RecentSignals;

  constructor(runtime: ExecutorRuntime) {
    this.#runtime = runtime;
    this.#recentSignals = new RecentSignals(runtime.clock);
  }

  /** Runs a command with parsed input. Resolves when it is committed. */
  async execute<Input, Output>(
    command: Command<Input, Output>,
    input: Input,
    context: Context,
  ): Promise<Outcome<Output>> {
    const { services, clock, stopDeadline } = this.#runtime;
    const refusal = await command.check?.(input, { services, clock, stopDeadline });
    const { idempotency_key: key } = context;
    if (key === null) {
      if (refusal !== undefined) throw refusal;
      const value = await this.#commit(command, input, context, (tx, call) =>
        command.run(tx, input, call),
      );
      // In-process callers rarely read the body, so it is serialized on demand.
      return {
        status: command.status,
        value,
        get body() {
          return JSON.stringify(value ?? null);
        },
        replayed: false,
      };
    }
    const fingerprint = fingerprintOf(services.secret, command.name, input);
    const claim = { key, fingerprint, refusal };
    const result = await this.#commit(command, input, context, (tx, call) =>
      this.#runOnce(tx, command, input, call, claim),
    );
    if (!result.ok) throw result.error;
    return result.outcome;
  }

  /** Runs `work` in the transaction of a command. */
  #commit<Input, T>(
    command: Command<Input, unknown>,
    input: Input,
    context: Context,
    work: (tx: Tx, call: Call) => Promise<T>,
  ): Promise<T> {
    const { services, hostPolicies } = this.#runtime;
    return hostPolicies.commit(
      context.scope,
      (tx, hostVerdicts) => {
        command.prefetch?.(tx, input, services);
        return work(tx, { ...context, services, hostVerdicts });
      },
      { handle: context.tx, origin: command.isItem === true ? "item" : "caller" },
    );
  }

  /**
   * Runs a procedure. It claims its idempotency key first. A repeated request runs the procedure
   * again, and completed steps return their stored responses, unless the whole response was stored.
   */
  async runProcedure<Input, Output>(
    procedure: Procedure<Input, Output>,
    input: Input,
    context: Context,
  ): Promise<Outcome<Output>> {
    if (context.tx !== undefined) {
      throw new TidingsError(
        "invalid_option",
        `tx: ${procedure.name} uses several transactions and cannot join yours. Omit tx.`,
      );
    }
    const { store, clock } = this.#runtime;
    // An item may name a time after the maximum. The item is then refused on its own.
    const busy_until = Math.min(procedure.until?.(input) ?? 0, clock.now() + maxScheduleAhead);
    const busyContext: Context = { ...context, busy_until };
    const call = this.#callOf(busyContext);
    const { idempotency_key: key } = context;
    const before = key === null ? undefined : await this.#claim(procedure, input, call, key);
    if (before !== undefined && before.response !== null) {
      return replayOf(before.status, before.response);
    }
    const storesResponse = key !== null && procedure.storesResponse === true;
    const options = { store, executor: this, context: busyContext, storesResponse };
    const steps = new ProcedureSteps(options);
    try {
      const value = await procedure.run(steps, input, call);
      const body = JSON.stringify(value ?? null);
      if (storesResponse) await this.#storeResponse(context, key, body);
      // A response that is assembled from steps is a replay if each step is one.
      const replayed = before !== undefined && !storesResponse && steps.areReplays;
      return { status: procedure.status, value, body, replayed };
    } catch (error) {
      if (error instanceof AnsweredMeanwhile) return replayOf(error.status, error.body);
      throw error;
    }
  }

  /** Runs each row separately, without an idempotency key. */
  runRows<Report, Total>(
    procedure: RowProcedure<Report, Total>,
    rows: Iterable<unknown> | AsyncIterable<unknown>,
    context: Omit<Context, "tx">,
  ): AsyncGenerator<Report, Total> {
    const { store } = this.#runtime;
    const steps: ItemSteps = {
      execute: (command, each) => this.execute(command, each, context),
      yieldToEventLoop: () => store.yieldToEventLoop(),
    };
    return procedure.run(steps, rows, this.#callOf(context));
  }

  async query<Input, Output>(
    query: Query<Input, Output>,
    input: Input,
    context: Context,
  ): Promise<Output> {
    const { store, clock } = this.#runtime;
    return query.run(store.reads(context.scope), input, this.#callOf(context), clock.now());
  }

  /** Opens a stream. Before that, runs the stream's command `before` until it has no more to do. */
  async open<Input, Item>(
    stream: EventStream<Input, Item>,
    input: Input,
    context: Context,
    sources: OpenSources,
    signal: AbortSignal,
  ): Promise<AsyncIterable<StreamEvent<Item>>> {
    const { store, clock } = this.#runtime;
    while (stream.before !== undefined && !signal.aborted) {
      const { value: isMore } = await this.execute(stream.before, input, context);
      if (!isMore) break;
    }
    return stream.open(
      {
        ...sources,
        reads: store.reads(context.scope),
        now: () => clock.now(),
        yieldToEventLoop: () => store.yieldToEventLoop(),
      },
      input,
      this.#callOf(context),
      signal,
    );
  }

  /** Passes a signal on to streams. Stores nothing. */
  async signal<Input>(
    operation: SignalOperation<Input>,
    input: Input,
    context: Context,
  ): Promise<void> {
    const { store, clock, signals } = this.#runtime;
    const { scope, caller } = context;
    const { account_id, mode } = scope;
    const key = JSON.stringify([account_id, mode, operation.name, input, authorOf(caller)]);
    if (this.#recentSignals.has(key)) return;
    const call = this.#callOf(context);
    const signal = await operation.run(store.reads(scope), input, call, clock.now());
    // An equal call may have been faster.
    if (this.#recentSignals.has(key)) return;
    this.#recentSignals.add(key);
    if (signal !== undefined) signals.publish(scope, signal);
  }

  /** Runs a command under its idempotency key, or replays the response that is stored for it. */
  async #runOnce<Input, Output>(
    tx: Tx,
    command: Command<Input, Output>,
    input: Input,
    call: Call,
    { key, fingerprint, refusal }: ClaimedKey,
  ): Promise<CommandResult<Output>> {
    const before = await tx.get(idempotencyByKey, [key]);
    if (before !== undefined) {
      if (await isRemembered(tx, before, call.services)) return replay(before, fingerprint);
      tx.remove(idempotency, before);
    }
    if (refusal !== undefined) throw refusal;

    const result = await runCommand(tx, command, input, call);
    if (!result.ok) await command.touch?.(tx, input);
    const stored = result.ok
      ? storedResponse(command, result.outcome, input, call)
      : storedProblem(command, result.error, input, call);
    tx.insert(idempotency, {
      key,
      fingerprint,
      ...stored,
      survives_reset: command.survivesReset ?? null,
      expires_at: this.#expiry(tx.now, call),
    });
    return result;
  }

  /**
   * Claims the key. Returns the row of an earlier identical request, or undefined if the key is
   * new.
   */
  async #claim<Input>(
    procedure: Procedure<Input, unknown>,
    input: Input,
    call: Call,
    key: string,
  ): Promise<IdempotencyRow | undefined> {
    const { scope } = call;
    const fingerprint = fingerprintOf(call.services.secret, procedure.name, input);
    return this.#runtime.store.commit(scope, async (tx) => {
      const before = await tx.get(idempotencyByKey, [key]);
      if (before !== undefined && before.expires_at > tx.now) {
        if (before.fingerprint !== fingerprint) throw keyReused();
        return before;
      }
      if (before !== undefined) tx.remove(idempotency, before);
      tx.insert(idempotency, {
        key,
        fingerprint,
        status: procedure.status,
        response: null,
        subject_id: null,
        also_shows: null,
        survives_reset: procedure.survivesReset ?? null,
        expires_at: this.#expiry(tx.now, call),
      });
      return undefined;
    });
  }

  async #storeResponse({ scope }: Context, key: string, response: string): Promise<void> {
    await this.#runtime.store.commit(scope, async (tx) => {
      await refuseIfAnswered(tx, key);
      const claimed = await tx.get(idempotencyByKey, [key]);
      if (claimed !== undefined) tx.update(idempotency, claimed, { response });
    });
  }

  /** The call of an operation in which no policy of the host application is evaluated. */
  #callOf(context: Omit<Context, "tx">): Call {
    return { ...context, services: this.#runtime.services, hostVerdicts: noVerdicts };
  }

  #expiry(now: number, { busy_until = 0 }: Call): number {
    return Math.max(now, busy_until) + this.#runtime.idempotencyHours * hourMs;
  }
}

/** `body` was stored for an equal request, so it is of the same type. */
function replayOf<Output>(status: number, body: string): Outcome<Output> {
  return { status, value: JSON.parse(body) as Output, body, replayed: true };
}

/**
 * Runs the command. An error that would recur is a result too: the writes are rolled back and the
 * error is stored. An error that depends on the caller is not stored, since another API key of the
 * account may repeat the request.
 */
async function runCommand<Input, Output>(
  tx: Tx,
  command: Command<Input, Output>,
  input: Input,
  call: Call,
): Promise<CommandResult<Output>> {
  try {
    const value = await tx.attempt((attempt) => command.run(attempt, input, call));
    const outcome = {
      status: command.status,
      value,
      body: JSON.stringify(value ?? null),
      replayed: false,
    };
    return { ok: true, outcome };
  } catch (error) {
    if (error instanceof TidingsError && isStoredError(error)) return { ok: false, error };
    throw error;
  }
}

function isStoredError({ retryable, status }: TidingsError): boolean {
  return !retryable && status < 500 && status !== 401 && status !== 403;
}
