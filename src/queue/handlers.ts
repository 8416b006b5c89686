import { leaseMs } from "./take-job.ts";
import { finish, renew } from "./rows.ts";
import type { Claim, JobDefinition } from "./job.ts";
import type { EngineJobKind, JobKeys, JobKind } from "./job-kinds.ts";
import { background, type Store, type Tx } from "../store/index.ts";
import { type Scope, TidingsError } from "../kernel/index.ts";
import type { Clock } from "../ports/index.ts";

/** The part of a runtime that these handlers need. */
interface WithStore {
  readonly store: Store;
}

/** How many chunks one run processes before it lets other jobs run. */
const maxChunks = 100;

/** Defines a job whose work is one transaction in its scope, which also finishes the job. */
export function inTransaction<K extends Exclude<JobKind, EngineJobKind>, R extends WithStore>(
  work: (tx: Tx, claim: Claim<K>, runtime: R) => Promise<void>,
): JobDefinition<K, R> {
  return (runtime) => (claim) => {
    const scope: Scope = claim;
    return runtime.store.commit(scope, (tx) => work(tx, claim, runtime), background);
  };
}

/** Kinds of jobs whose work is done in chunks. */
type ChunkedKind = "discard" | "erase" | "erase-address" | "merge";

/**
 * Defines a job whose work takes many transactions, one chunk in each. The last chunk removes the
 * job.
 */
export function inChunks<K extends ChunkedKind, R extends WithStore>(
  work: (tx: Tx, key: JobKeys[K], runtime: R) => Promise<"more" | "done">,
): JobDefinition<K, R> {
  return (runtime) =>
    async (claim, { stopping }) => {
      const { key }: { readonly key: JobKeys[K] } = claim;
      const scope: Scope = claim;
      const { store } = runtime;
      for (let i = 0; i < maxChunks && !stopping.aborted; i++) {
        const left = await store.commit(
          scope,
          async (tx) => ((await renew(tx, claim, leaseMs)) ? work(tx, key, runtime) : "done"),
          background,
        );
        if (left === "done") return;
      }
      await store.commit(scope, (tx) => finish(tx, claim, { againAt: tx.now }), background);
    };
}

/** Pauses between tries, in milliseconds: about six seconds in total, well within a lease. */
const pauses = [100, 200, 400, 800, 1_600, 3_200] as const;

/**
 * Retries `work` for a few seconds while the storage is unavailable, until `abort`. Use it to store
 * what only this process knows: if a carrier's answer is lost, its message becomes ambiguous.
 */
export async function retry<T>(
  clock: Clock,
  abort: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  for (const pause of pauses) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof TidingsError) || !error.retryable || abort.aborted) throw error;
      await clock.sleep(pause, abort);
    }
  }
  return work();
}

/**
 * The time after which a commit that got no answer has ended on the storage, in milliseconds. A
 * storage that lost the connection to this process may still be busy with it.
 */
const settleMs = 1_000;

/** Like `retry`, to find out whether a commit that got no answer is stored. */
export async function whenSettled<T>(
  clock: Clock,
  abort: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  await clock.sleep(settleMs, abort);
  return retry(clock, abort, work);
}
