import { notFound } from "../../kernel/index.ts";
import type { Runtime } from "../../operations/index.ts";
import {
  arm,
  disarm,
  disarmLane,
  findJob,
  renew,
  runChunks,
  type ChunkResult,
  type JobHandler,
  type JobOrder,
} from "../../queue/index.ts";
import { background, type Store, type UnscopedTx } from "../../store/index.ts";
import { consumerLane } from "./job-orders.ts";
import {
  consumerByName,
  consumerEvents,
  consumerEventsOfKey,
  consumers,
  type ConsumerRow,
} from "./rows.ts";

/** Rows of each kind that one transaction removes. */
const chunk = 200;
/**
 * The delay of the job, in milliseconds. `removeConsumer` removes the rows at once. If its process
 * ends early, the job continues.
 */
const laterMs = 60_000;

/**
 * Removes a consumer: its queued events and jobs in chunks, and then its position in the log. A job
 * is armed as long as the removal goes on. Meanwhile no engine queues events for the consumer, and
 * a consumer of the same name begins only when the removal is done.
 * @throws TidingsError `not_found`
 */
export async function removeConsumer(store: Store, name: string): Promise<void> {
  await store.commitUnscoped(async (tx) => {
    const consumer = await tx.get(consumerByName, [name]);
    if (consumer === undefined) throw notFound("consumer");
    // Written, so that an engine that queues events at the same time finds the job.
    tx.touch(consumers, consumer);
    await arm(tx, removalJob(name, tx.now + laterMs));
  });
  await completeRemoval(store, name);
}

/** Removes what is left of a consumer that is being removed. */
export async function completeRemoval(store: Store, name: string): Promise<void> {
  while ((await store.commitUnscoped((tx) => removeChunk(tx, name))) === "more");
}

/** Whether a consumer is being removed. */
export async function isBeingRemoved(tx: UnscopedTx, { name }: ConsumerRow): Promise<boolean> {
  return (await findJob(tx, removalJob(name, tx.now))) !== undefined;
}

/** Continues the removal of a consumer, because the process that began it ended early. */
export function continueRemoval(runtime: Runtime): JobHandler<"remove-consumer"> {
  return (claim, run) => {
    const { consumer } = claim.key;
    const removeIfLeased = async (tx: UnscopedTx): Promise<ChunkResult> =>
      (await renew(tx, claim)) === undefined ? "done" : removeChunk(tx, consumer);
    const runChunk = () => runtime.store.commitUnscoped(removeIfLeased, background);
    return runChunks(runtime, claim, run, runChunk);
  };
}

/** Removes one chunk. The last one also removes the consumer and the job. */
async function removeChunk(tx: UnscopedTx, name: string): Promise<ChunkResult> {
  const consumer = await tx.get(consumerByName, [name]);
  // Another process has completed the removal, and the name may be in use again.
  if (consumer === undefined || !(await isBeingRemoved(tx, consumer))) return "done";
  const rows = await tx.list(consumerEventsOfKey, [name], chunk);
  for (const row of rows) tx.remove(consumerEvents, row);
  // Found by their lanes: an engine that stopped may have left a job whose events are handled.
  const lane = consumerLane(name);
  const lanes = [lane, { ...lane, slow: true }];
  const disarmed = await Promise.all(lanes.map((each) => disarmLane(tx, each, chunk)));
  if (Math.max(rows.length, ...disarmed) === chunk) return "more";
  tx.remove(consumers, consumer);
  await disarm(tx, removalJob(name, tx.now));
  return "done";
}

function removalJob(consumer: string, due_at: number): JobOrder<"remove-consumer"> {
  const lane = { kind: "remove-consumer", slow: false } as const;
  const owner = { account_id: null, mode: null };
  return { kind: "remove-consumer", key: { consumer }, ...owner, lane, due_at };
}
