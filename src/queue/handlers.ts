/** Forms of job handlers that several modules use. */
import type { Scope } from "../kernel/index.ts";
import { background, type Store, type Tx } from "../store/index.ts";
import type { EngineJobKind, JobKeys, JobKind } from "./jobs/job-kinds.ts";
import type { Claim, JobDefinition, JobRun } from "./jobs/job.ts";
import { finish, renew } from "./jobs/lease.ts";

/** The part of a runtime that these handlers need. */
interface WithStore {
  readonly store: Store;
}

/** Defines a job whose work is one transaction in its scope, which also finishes the job. */
export function inTransaction<K extends Exclude<JobKind, EngineJobKind>, R extends WithStore>(
  work: (tx: Tx, claim: Claim<K>, runtime: R) => Promise<void>,
): JobDefinition<K, R> {
  return (runtime) => (claim) => {
    const scope: Scope = claim;
    return runtime.store.commit(scope, (tx) => work(tx, claim, runtime), background);
  };
}

/** Whether more chunks follow. */
export type ChunkResult = "more" | "done";

/** How many chunks one run processes before it lets other jobs run. */
const maxChunks = 100;

/**
 * Runs chunks of a job's work, each in a transaction of its own. Returns `more` if the job must run
 * again, because its run has lasted long enough or the engine stops.
 */
export async function runChunks(
  { stopping }: Pick<JobRun, "stopping">,
  runChunk: () => Promise<ChunkResult>,
): Promise<ChunkResult> {
  for (let i = 0; i < maxChunks && !stopping.aborted; i++) {
    if ((await runChunk()) === "done") return "done";
  }
  return "more";
}

/** Kinds of jobs whose work is done in chunks. */
type ChunkedKind = "discard" | "erase" | "erase-address" | "merge";

/**
 * Defines a job whose work takes many transactions, one chunk in each. The last chunk removes the
 * job.
 */
export function inChunks<K extends ChunkedKind, R extends WithStore>(
  work: (tx: Tx, key: JobKeys[K], runtime: R) => Promise<ChunkResult>,
): JobDefinition<K, R> {
  return (runtime) => async (claim, run) => {
    const { key }: { readonly key: JobKeys[K] } = claim;
    const scope: Scope = claim;
    const { store } = runtime;
    const workIfLeased = async (tx: Tx): Promise<ChunkResult> =>
      (await renew(tx, claim)) === undefined ? "done" : work(tx, key, runtime);
    const progress = await runChunks(run, () => store.commit(scope, workIfLeased, background));
    if (progress === "done") return;
    await store.commit(scope, (tx) => finish(tx, claim, { againAt: tx.now }), background);
  };
}
