import { storable, withDeadline } from "../../kernel/index.ts";
import { errorFacts } from "../../ports/index.ts";
import {
  encodeJobKey,
  finish,
  type Claim,
  type JobHandler,
  type JobRun,
} from "../../queue/index.ts";
import { background } from "../../store/index.ts";
import type { ConsumerRuntime, RunningConsumer } from "./consumers.ts";
import {
  failConsumerEvent,
  nextConsumerEvent,
  takeConsumerEvent,
  type NextConsumerEvent,
} from "./queued-events.ts";

/**
 * The deadline of a handler in milliseconds. It is well within a lease, and limits how long other
 * transactions wait for the locks of the handler.
 */
const handlerMs = 10_000;
/** The maximum number of events of one key per run. Then other jobs can run. */
const maxInARow = 50;
/** The maximum length of a stored error, in characters. */
const maxErrorLength = 500;

/** A run of the job of one key. */
interface KeyRun extends JobRun {
  readonly claim: Claim<"consume">;
  readonly consumer: RunningConsumer;
}

type Handled = "done" | "aborted" | { readonly error: unknown };

/** Calls a consumer's handler with the events of one key, in order, one at a time. */
export function callConsumer(runtime: ConsumerRuntime): JobHandler<"consume"> {
  const calls = new ConsumerCalls(runtime);
  return (claim, run) => calls.run(claim, run);
}

class ConsumerCalls {
  readonly #runtime: ConsumerRuntime;
  /**
   * Keys whose handler call has not returned, even after its deadline. The handler is not called
   * for them until it does.
   */
  readonly #overdue = new Set<string>();

  constructor(runtime: ConsumerRuntime) {
    this.#runtime = runtime;
  }

  run(claim: Claim<"consume">, run: JobRun): Promise<void> {
    const consumer = this.#runtime.consumers.get(claim.key.consumer);
    return consumer === undefined
      ? this.#release(claim)
      : consumer.during(this.#drain({ ...run, claim, consumer }));
  }

  async #drain(run: KeyRun): Promise<void> {
    const { store } = this.#runtime;
    const { claim, consumer, stopping } = run;
    for (let i = 0; i < maxInARow && !consumer.isStopped && !stopping.aborted; i++) {
      const next = await store.commitUnscoped((tx) => nextConsumerEvent(tx, claim), background);
      if (next === undefined) return;
      const handled = await this.#handle(next, run);
      if (handled === "aborted") break;
      if (handled !== "done") return this.#fail(claim, next, handled.error);
    }
    await this.#release(claim);
  }

  /** Makes the job due now, for any dispatcher, in this engine or another. */
  #release(claim: Claim<"consume">): Promise<void> {
    return this.#runtime.store.commitUnscoped(
      (tx) => finish(tx, claim, { againAt: tx.now }),
      background,
    );
  }

  async #handle(next: NextConsumerEvent, run: KeyRun): Promise<Handled> {
    const { store } = this.#runtime;
    let isCalled = false;
    const call = (tx: object | undefined): Promise<void> => {
      isCalled = true;
      return this.#call(next, run, tx);
    };
    try {
      if (store.hasTransactions) {
        await this.#takeAndCall(next, call);
      } else {
        await call(undefined);
        await store.commitUnscoped((tx) => takeConsumerEvent(tx, next.row), background);
      }
      return "done";
    } catch (error) {
      // A storage failure does not count as a failure of the handler.
      if (!isCalled) throw error;
      return run.abort.aborted ? "aborted" : { error };
    }
  }

  /** Takes the event in the transaction in which the handler writes. */
  #takeAndCall({ row }: NextConsumerEvent, call: (tx: object) => Promise<void>): Promise<void> {
    const { store } = this.#runtime;
    return store.transaction(async (tx) => {
      const isOurs = await store.withinUnscoped(tx, (within) => takeConsumerEvent(within, row));
      if (isOurs) await call(tx);
    }, background);
  }

  async #call(
    { event }: NextConsumerEvent,
    { claim, consumer, abort }: KeyRun,
    tx: object | undefined,
  ): Promise<void> {
    const key = encodeJobKey(claim);
    if (this.#overdue.has(key)) {
      throw new Error(
        "The previous call of the handler has not returned. Let the handler stop when its " +
          "signal aborts.",
      );
    }
    const late = (): never => {
      throw new Error(`The handler took longer than ${handlerMs} ms.`);
    };
    const call = async (signal: AbortSignal): Promise<void> => {
      this.#overdue.add(key);
      try {
        await consumer.call(event, { tx, signal });
      } finally {
        this.#overdue.delete(key);
      }
    };
    await withDeadline(this.#runtime.clock, handlerMs, call, late, abort);
  }

  async #fail(claim: Claim<"consume">, next: NextConsumerEvent, error: unknown): Promise<void> {
    const { store, logger } = this.#runtime;
    const { consumer, event_id } = next.row;
    const facts = { err: error, consumer, event_id };
    const { name, message } = errorFacts(error);
    const text = storable(`${name}: ${message}`, maxErrorLength);
    const isParked = await store.commitUnscoped(
      (tx) => failConsumerEvent(tx, claim, next, text),
      background,
    );
    if (isParked) logger.error(facts, "a consumer failed too often, so its event is parked");
    else logger.warn(facts, "a consumer failed to process an event; retrying");
  }
}
