import { failConsumerEvent } from "./fail-consumer-event.ts";
import {
  type NextConsumerEvent,
  nextConsumerEvent,
  takeConsumerEvent,
} from "./next-consumer-event.ts";
import { withDeadline } from "../queue/deadline.ts";
import { type JobHandler, leaseMs, type Turn } from "../queue/dispatcher.ts";
import { consumerKeyOf } from "./consumer-rules.ts";
import type { ConsumerHandler } from "./consumer-types.ts";
import { eventResource } from "./resource.ts";
import type { EventType } from "./types.ts";
import { finish } from "../queue/rows.ts";
import type { Claim } from "../queue/types.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { Store } from "../store/store.ts";
import { errorFacts } from "../queue/error-facts.ts";

/** A consumer whose handler is set up in this engine. */
export interface SetUpConsumer {
  readonly handler: ConsumerHandler<EventType, object | undefined>;
  readonly isStopped: () => boolean;
  /** Told of each job that it is at. */
  during(run: Promise<void>): Promise<void>;
}

export interface ConsumeWork {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly consumers: { get(name: string): SetUpConsumer | undefined };
}

/** How long a handler may take: well within a lease, and about as long as others can wait for what its transaction holds. */
const handlerMs = 10_000;
const own = { own: true } as const;
/** Events of one key in one go; then others have their turn. */
const mostInARow = 50;
/** Characters that are kept of an error. */
const errorLength = 500;

type Handler = SetUpConsumer["handler"];
type Handled = "done" | "aborted" | { readonly error: unknown };

/** Hands a key's events to its consumer, in order, one at a time. */
export function consumeHandler({ store, clock, logger, consumers }: ConsumeWork): JobHandler {
  /** The keys at which a handler did not come back in time. Until it does it is not called for them again. */
  const astray = new Set<string>();

  const call = async (
    { key }: Claim,
    { event }: NextConsumerEvent,
    { abort }: Turn,
    handler: Handler,
    tx: object | undefined,
  ): Promise<void> => {
    if (astray.has(key)) throw new Error("The handler has not come back from its last call.");
    const { account_id, mode } = event;
    const late = (): never => {
      throw new Error(`The handler took longer than ${handlerMs} ms.`);
    };
    const run = async (signal: AbortSignal): Promise<void> => {
      astray.add(key);
      try {
        await handler(eventResource(event), { account_id, mode, tx, signal });
      } finally {
        astray.delete(key);
      }
    };
    await withDeadline(clock, handlerMs, abort, run, late);
  };

  const handle = async (
    claim: Claim,
    next: NextConsumerEvent,
    turn: Turn,
    handler: Handler,
  ): Promise<Handled> => {
    let isCalled = false;
    try {
      if (store.hasTransactions) {
        await store.transaction(async (tx) => {
          const isOurs = await store.withinUnscoped(tx, (within) =>
            takeConsumerEvent(within, next.row),
          );
          isCalled = isOurs;
          if (isOurs) await call(claim, next, turn, handler, tx);
        }, own);
      } else {
        isCalled = true;
        await call(claim, next, turn, handler, undefined);
        await store.commitUnscoped((tx) => takeConsumerEvent(tx, next.row), own);
      }
      return "done";
    } catch (error) {
      // What the storage fails at is not the event's fault.
      if (!isCalled) throw error;
      return turn.abort.aborted ? "aborted" : { error };
    }
  };

  const fail = async (claim: Claim, next: NextConsumerEvent, error: unknown): Promise<void> => {
    const { row } = next;
    const facts = { err: errorFacts(error), consumer: row.consumer, event_id: row.event_id };
    const { name, message } = facts.err;
    const text = `${name}: ${message}`.slice(0, errorLength);
    const isParked = await store.commitUnscoped(
      (tx) => failConsumerEvent(tx, claim, next, text),
      own,
    );
    if (isParked) logger.error(facts, "a consumer failed at an event too often; it is parked");
    else logger.warn(facts, "a consumer failed at an event; it is tried again");
  };

  const drain = async (claim: Claim, turn: Turn, consumer: SetUpConsumer): Promise<void> => {
    for (let i = 0; i < mostInARow && !consumer.isStopped() && !turn.isStopping(); i++) {
      const next = await store.commitUnscoped((tx) => nextConsumerEvent(tx, claim, leaseMs), own);
      if (next === undefined) return;
      const handled = await handle(claim, next, turn, consumer.handler);
      if (handled === "aborted") break;
      if (handled !== "done") return fail(claim, next, handled.error);
    }
    await giveBack(claim);
  };

  /** For whoever is next, here or in another engine. */
  const giveBack = (claim: Claim): Promise<void> =>
    store.commitUnscoped((tx) => finish(tx, claim, { againAt: tx.now }), own);

  return {
    kind: "consume",
    run(claim, turn) {
      const consumer = consumers.get(consumerKeyOf(claim.key).consumer);
      return consumer === undefined
        ? giveBack(claim)
        : consumer.during(drain(claim, turn, consumer));
    },
  };
}
