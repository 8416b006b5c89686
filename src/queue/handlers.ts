/** Forms of job handlers that several modules use. */
import type { Scope } from "../kernel/index.ts";
import { background, type Store, type Tx } from "../store/index.ts";
import type { EngineJobKind, JobKeys, JobKind } from "./jobs/job-kinds.ts";
import type { Claim, JobDefinition, JobRun } from "./jobs/job.ts";
import { finish, renew, type LeaseProof } from "./jobs/lease.ts";

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
 * Runs chunks of a job's work until one is the last. `runChunk` commits one chunk, and ends the job
 * with the last one. After `maxChunks`, or when the engine stops, the job is due again at once, and
 * its next run continues.
 */
export async function runChunks(
  { store }: WithStore,
  claim: LeaseProof,
  { stopping }: Pick<JobRun, "stopping">,
  runChunk: () => Promise<ChunkResult>,
): Promise<void> {
  for (let i = 0; i < maxChunks && !stopping.aborted; i++) {
    if ((await runChunk()) === "done") return;
  }
  await store.commitUnscoped((tx) => finish(tx, claim, { againAt: tx.now }), background);
}

/** Kinds of jobs whose work is done in chunks. */
type ChunkedKind = "discard" | "erase" | "erase-address" | "merge";

/**
 * Defines a job whose work takes many transactions, one chunk in each. With the last chunk, `work`
 * disarms the job.
 */
export function inChunks<K extends ChunkedKind, R extends WithStore>(
  work: (tx: Tx, key: JobKeys[K], runtime: R) => Promise<ChunkResult>,
): JobDefinition<K, R> {
  return (runtime) => (claim, run) => {
    const { key }: { readonly key: JobKeys[K] } = claim;
    const scope: Scope = claim;
    const { store } = runtime;
    const workIfLeased = async (tx: Tx): Promise<ChunkResult> =>
      (await renew(tx, claim)) === undefined ? "done" : work(tx, key, runtime);
    const runChunk = () => store.commit(scope, workIfLeased, background);
    return runChunks(runtime, claim, run, runChunk);
  };
}
