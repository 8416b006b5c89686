import { defaultSenderByChannel, defaultSenders, type SenderRow } from "./rows.ts";
import { type Channel, invalid } from "../kernel/index.ts";
import type { Tx } from "../store/index.ts";

/** Of one channel's pool. */
const mostInPool = 100;

/**
 * Puts a sender into the pools of its channels if it is `pool`, and takes it out of those of the channels that it no longer has.
 * @throws TidingsError `validation_failed` when a pool is full
 */
export async function setPools(
  tx: Tx,
  { id, channels, pool: isPooled }: SenderRow,
  before: readonly Channel[],
): Promise<void> {
  for (const channel of new Set([...before, ...channels])) {
    const known = await tx.get(defaultSenderByChannel, [channel]);
    const others = known?.pool.filter((each) => each !== id) ?? [];
    const pool = isPooled && channels.includes(channel) ? [...others, id] : others;
    if (pool.length > mostInPool) {
      const message = `The pool for ${channel} has ${mostInPool} senders already.`;
      throw invalid([{ pointer: "/pool", code: "pool_full", message }]);
    }
    if (known === undefined) {
      if (pool.length > 0) {
        tx.insert(defaultSenders, { channel, sender_id: null, pool });
      }
    } else if (pool.length !== known.pool.length) {
      tx.update(defaultSenders, known, { pool });
    }
  }
}
