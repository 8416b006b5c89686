import {
  maxScheduleAheadMs,
  ReplayedError,
  TidingsError,
  type GenerateId,
} from "../../kernel/index.ts";
import type { Reads, Tx } from "../../store/index.ts";
import { authorOf } from "../caller.ts";
import type { EventStream, OpenSources, StreamEvent } from "../event-stream.ts";
import type {
  Call,
  Change,
  Command,
  Context,
  ItemSteps,
  Outcome,
  Procedure,
  Query,
  RowProcedure,
  SignalOperation,
  Steps,
} from "../operation.ts";
import type { Runtime } from "../runtime.ts";
import { RecentSignals } from "../signals.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { noVerdicts } from "./host-policies.ts";
import { stepKey } from "./idempotency-key.ts";
import {
  AnsweredMeanwhile,
  claimKey,
  refuseIfAnswered,
  replayOf,
  runUnderKey,
  storeWholeResponse,
  type KeyClaim,
} from "./idempotency.ts";

interface ExecutorRuntime extends Pick<
  Runtime,
  "store" | "clock" | "services" | "hostPolicies" | "signals"
> {
  /** How long an idempotency key is remembered, in hours. */
  readonly idempotencyHours: number;
  /** Aborts at the deadline of a stop. */
  readonly stopDeadline: AbortSignal;
  /** Whether the calling batch ends before its next item, because the engine stops. */
  readonly mustEnd: () => boolean;
}

/** An engine whose storage is open. */
export interface Prepared<R extends Runtime = Runtime> {
  readonly runtime: R;
  readonly executor: Executor;
}

/** Runs operations of every kind, each in the transactions and with the context that it needs. */
export class Executor {
  readonly #runtime: ExecutorRuntime;
  readonly #recentSignals: RecentSignals;

  constructor(runtime: ExecutorRuntime) {
    this.#runtime = runtime;
    this.#recentSignals = new RecentSignals(runtime.clock);
  }

  /** Runs a command or a procedure with parsed input. Resolves when it is committed. */
  execute<Input, Output>(
    operation: Change<Input, Output>,
    input: Input,
    context: Context,
  ): Promise<Outcome<Output>> {
    return operation.kind === "command"
      ? this.#runCommand(operation, input, context)
      : this.#runProcedure(operation, input, context);
  }

  async #runCommand<Input, Output>(
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
    const claim = { ...this.#claimOf(command, input, key), refusal };
    const result = await this.#commit(command, input, context, (tx, call) =>
      runUnderKey(tx, command, input, call, claim),
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
    return hostPolicies.commitWithVerdicts(
      context.scope,
      (tx, hostVerdicts) => {
        command.prefetch?.(tx, input, services);
        return work(tx, { ...context, services, hostVerdicts });
      },
      { handle: context.tx, origin: command.isItem === true ? "item" : "caller" },
    );
  }

  /**
   * A procedure claims its idempotency key first. A repeated request runs the procedure again, and
   * completed steps return their stored responses, unless the whole response was stored.
   */
  async #runProcedure<Input, Output>(
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
    const { store, clock, mustEnd } = this.#runtime;
    // An item may name a time after the maximum. The item is then refused on its own.
    const busy_until = Math.min(procedure.until?.(input) ?? 0, clock.now() + maxScheduleAheadMs);
    const busyContext: Context = { ...context, busy_until };
    const call = this.#callOf(busyContext);
    const { idempotency_key: key } = context;
    const claim = key === null ? undefined : this.#claimOf(procedure, input, key);
    const before =
      claim && (await store.commit(context.scope, (tx) => claimKey(tx, procedure, call, claim)));
    if (before !== undefined && before.response !== null) {
      return replayOf(before.status, before.response);
    }
    const storesResponse = key !== null && procedure.storesResponse === true;
    const options = { store, mustEnd, executor: this, context: busyContext, storesResponse };
    const steps = new ProcedureSteps(options);
    try {
      const value = await procedure.run(steps, input, call);
      const body = JSON.stringify(value ?? null);
      if (storesResponse) {
        await store.commit(context.scope, (tx) => storeWholeResponse(tx, key, body));
      }
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
  ): Promise<AsyncIterable<StreamEvent<Item>>> {
    const { store, clock } = this.#runtime;
    while (stream.before !== undefined && !sources.over.aborted) {
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

  /** The claim of an operation for its idempotency key. */
  #claimOf<Input>({ name }: { readonly name: string }, input: Input, key: string): KeyClaim {
    const { services, idempotencyHours } = this.#runtime;
    return { key, fingerprint: fingerprintOf(services.secret, name, input), idempotencyHours };
  }

  /** The call of an operation in which no policy of the host application is evaluated. */
  #callOf(context: Omit<Context, "tx">): Call {
    return { ...context, services: this.#runtime.services, hostVerdicts: noVerdicts };
  }
}

interface ProcedureStepsOptions extends Pick<Runtime, "store"> {
  readonly executor: Executor;
  readonly context: Context;
  /** Whether the whole response is stored under the key. A repetition may answer first then. */
  readonly storesResponse: boolean;
  /** Whether the procedure ends before its next item, because the engine stops. */
  readonly mustEnd: () => boolean;
}

/** The steps of one run of a procedure. */
class ProcedureSteps implements Steps {
  readonly reads: Reads;
  readonly drawId: GenerateId;
  readonly #options: ProcedureStepsOptions;
  #areReplays = true;

  constructor(options: ProcedureStepsOptions) {
    this.#options = options;
    this.reads = options.store.reads(options.context.scope);
    this.drawId = options.store.drawId;
  }

  /** Whether every step so far returned a stored response. */
  get areReplays(): boolean {
    return this.#areReplays;
  }

  commit<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const { store, context, storesResponse } = this.#options;
    const { scope, idempotency_key: key } = context;
    return store.commit(scope, async (tx) => {
      if (storesResponse && key !== null) await refuseIfAnswered(tx, key);
      return work(tx);
    });
  }

  yieldToEventLoop(): Promise<void> {
    return this.#options.store.yieldToEventLoop();
  }

  async execute<Input, Output>(
    command: Command<Input, Output>,
    input: Input,
    step: number,
  ): Promise<Outcome<Output>> {
    const { executor, context, mustEnd } = this.#options;
    const { idempotency_key: of } = context;
    if (command.isItem === true && mustEnd()) {
      // Without a key, a call with all items would send again those that were sent.
      const advice =
        of === null
          ? `Item ${step} was not processed.`
          : "Call again with the same idempotency key.";
      throw new TidingsError("shutting_down", `The engine is shutting down. ${advice}`);
    }
    const idempotency_key = of === null ? null : stepKey(of, step);
    try {
      const outcome = await executor.execute(command, input, { ...context, idempotency_key });
      if (!outcome.replayed) this.#areReplays = false;
      return outcome;
    } catch (error) {
      if (!(error instanceof ReplayedError)) this.#areReplays = false;
      throw error;
    }
  }
}
