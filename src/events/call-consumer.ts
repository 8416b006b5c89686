import { failConsumerEvent } from "./fail-consumer-event.ts";
import {
  type NextConsumerEvent,
  nextConsumerEvent,
  takeConsumerEvent,
} from "./next-consumer-event.ts";
import { withDeadline } from "../kernel/index.ts";
import {
  type Claim,
  encodeJobKey,
  errorFacts,
  finish,
  type JobHandler,
  type JobRun,
  leaseMs,
} from "../queue/index.ts";
import type { LocalConsumer } from "./consumer-types.ts";
import { eventResource } from "./resource.ts";
import type { ConsumerRuntime } from "./consumer-types.ts";

/** The deadline of a handler: well within a lease, and about as long as others can wait for the locks of its transaction. */
const handlerMs = 10_000;
const own = { own: true } as const;
/** Events of one key in one run. Then other jobs have their turn. */
const maxInARow = 50;
/** Characters that are kept of an error. */
const maxErrorLength = 500;

type Handler = LocalConsumer["handler"];
type Handled = "done" | "aborted" | { readonly error: unknown };

/** Calls a consumer's handler with the events of one key, in order, one at a time. */
export function callConsumer(runtime: ConsumerRuntime): JobHandler<"consume"> {
  const calls = new ConsumerCalls(runtime);
  return (claim, run) => calls.run(claim, run);
}

class ConsumerCalls {
  readonly #runtime: ConsumerRuntime;
  /** Keys whose handler has not returned, also after its deadline. It is not called for them meanwhile. */
  readonly #overdue = new Set<string>();

  constructor(runtime: ConsumerRuntime) {
    this.#runtime = runtime;
  }

  run(claim: Claim<"consume">, run: JobRun): Promise<void> {
    const consumer = this.#runtime.consumers.get(claim.key.consumer);
    return consumer === undefined
      ? this.#giveBack(claim)
      : consumer.during(this.#drain(claim, run, consumer));
  }

  async #drain(claim: Claim<"consume">, run: JobRun, consumer: LocalConsumer): Promise<void> {
    const { store } = this.#runtime;
    for (let i = 0; i < maxInARow && !consumer.isStopped() && !run.isStopping(); i++) {
      const next = await store.commitUnscoped((tx) => nextConsumerEvent(tx, claim, leaseMs), own);
      if (next === undefined) return;
      const handled = await this.#handle(claim, next, run, consumer.handler);
      if (handled === "aborted") break;
      if (handled !== "done") return this.#fail(claim, next, handled.error);
    }
    await this.#giveBack(claim);
  }

  /** Makes the job due at once, for the next dispatcher, here or in another engine. */
  #giveBack(claim: Claim<"consume">): Promise<void> {
    return this.#runtime.store.commitUnscoped((tx) => finish(tx, claim, { againAt: tx.now }), own);
  }

  async #handle(
    claim: Claim<"consume">,
    next: NextConsumerEvent,
    run: JobRun,
    handler: Handler,
  ): Promise<Handled> {
    const { store } = this.#runtime;
    let isCalled = false;
    try {
      if (store.hasTransactions) {
        await store.transaction(async (tx) => {
          const isOurs = await store.withinUnscoped(tx, (within) =>
            takeConsumerEvent(within, next.row),
          );
          isCalled = isOurs;
          if (isOurs) await this.#call(claim, next, run, handler, tx);
        }, own);
      } else {
        isCalled = true;
        await this.#call(claim, next, run, handler, undefined);
        await store.commitUnscoped((tx) => takeConsumerEvent(tx, next.row), own);
      }
      return "done";
    } catch (error) {
      // A failure of the storage does not count as a failure at the event.
      if (!isCalled) throw error;
      return run.abort.aborted ? "aborted" : { error };
    }
  }

  async #call(
    claim: Claim<"consume">,
    { event }: NextConsumerEvent,
    { abort }: JobRun,
    handler: Handler,
    tx: object | undefined,
  ): Promise<void> {
    const key = encodeJobKey(claim);
    if (this.#overdue.has(key)) throw new Error("The handler has not returned from its last call.");
    const { account_id, mode } = event;
    const late = (): never => {
      throw new Error(`The handler took longer than ${handlerMs} ms.`);
    };
    const call = async (signal: AbortSignal): Promise<void> => {
      this.#overdue.add(key);
      try {
        await handler(eventResource(event), { account_id, mode, tx, signal });
      } finally {
        this.#overdue.delete(key);
      }
    };
    await withDeadline(this.#runtime.clock, handlerMs, call, late, abort);
  }

  async #fail(claim: Claim<"consume">, next: NextConsumerEvent, error: unknown): Promise<void> {
    const { store, logger } = this.#runtime;
    const { consumer, event_id } = next.row;
    const facts = { err: errorFacts(error), consumer, event_id };
    const text = `${facts.err.name}: ${facts.err.message}`.slice(0, maxErrorLength);
    const isParked = await store.commitUnscoped(
      (tx) => failConsumerEvent(tx, claim, next, text),
      own,
    );
    if (isParked) logger.error(facts, "a consumer failed too often; its event is parked");
    else logger.warn(facts, "a consumer failed at an event; the event is retried");
  }
}
