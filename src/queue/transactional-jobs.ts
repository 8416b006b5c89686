import { leaseMs } from "./dispatcher.ts";
import type { JobDefinition } from "./job.ts";
import { finish, renew } from "./rows.ts";
import type { EngineJobKind } from "./job-key.ts";
import type { Claim, JobKeys, JobKind } from "./types.ts";
import type { Store, Tx } from "../store/index.ts";
import type { Scope } from "../kernel/index.ts";

interface WithStore {
  readonly store: Store;
}

const own = { own: true } as const;
/** Chunks of one run. Then other jobs have their turn. */
const maxChunks = 100;

/** A job whose work is one transaction in its scope, which also finishes the job. */
export function inTransaction<K extends Exclude<JobKind, EngineJobKind>, R extends WithStore>(
  work: (tx: Tx, claim: Claim<K>, runtime: R) => Promise<void>,
): JobDefinition<K, R> {
  return (runtime) => (claim) => {
    const scope: Scope = claim;
    return runtime.store.commit(scope, (tx) => work(tx, claim, runtime), own);
  };
}

/** Kinds of jobs whose work is done in chunks. */
type ChunkedKind = "discard" | "erase" | "merge";

/** A job whose work takes many transactions, one chunk in each. The last chunk removes the job. */
export function inChunks<K extends ChunkedKind>(
  work: (tx: Tx, key: JobKeys[K]) => Promise<"more" | "done">,
): JobDefinition<K, WithStore> {
  return ({ store }) =>
    async (claim, { isStopping }) => {
      const { key }: { readonly key: JobKeys[K] } = claim;
      const scope: Scope = claim;
      for (let i = 0; i < maxChunks && !isStopping(); i++) {
        const left = await store.commit(
          scope,
          async (tx) => ((await renew(tx, claim, leaseMs)) ? work(tx, key) : "done"),
          own,
        );
        if (left === "done") return;
      }
      await store.commit(scope, (tx) => finish(tx, claim, { againAt: tx.now }), own);
    };
}
