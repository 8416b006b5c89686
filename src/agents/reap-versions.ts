import { dayMs, scopeKey, type Scope } from "../kernel/index.ts";
import type { Runtime } from "../operations/index.ts";
import type { Index, KeyValue, Seen } from "../ports/index.ts";
import { background, reread, type Reads, type UnscopedTx } from "../store/index.ts";
import { playbookVersions, playbookVersionsByUse } from "./playbooks/rows.ts";
import { agentVersions, agentVersionsByUse, playingSessions, sessionsOfVersion } from "./rows.ts";
import { runsOfVersion } from "./runs/rows.ts";

/**
 * Removes old versions of agents that no session and no run has used for the retention time, one
 * chunk per call. Each call returns the number of versions it read.
 */
export function agentVersionReaper(runtime: Runtime, chunk: number): () => Promise<number> {
  return versionReaper(runtime, {
    chunk,
    index: agentVersionsByUse,
    async findUsed(reads, old) {
      const keys = old.map(({ agent_id, revision }) => [agent_id, revision]);
      // Sessions are read first. Only a session begins runs with an old version, and if it has
      // ended by now, its runs are visible to the second read.
      const sessions = await reads.lists(sessionsOfVersion, keys, 1);
      const started = await reads.lists(runsOfVersion, keys, 1);
      return old.filter((_, i) => [sessions[i], started[i]].some((rows) => rows?.length === 1));
    },
    keep: (tx, version) => tx.update(agentVersions, version, { last_used_at: tx.now }),
  });
}

/**
 * Removes old versions of playbooks that no conversation has played for the retention time, one
 * chunk per call. Each call returns the number of versions it read.
 */
export function playbookVersionReaper(runtime: Runtime, chunk: number): () => Promise<number> {
  return versionReaper(runtime, {
    chunk,
    index: playbookVersionsByUse,
    async findUsed(reads, old) {
      const used = await playedVersions(reads, chunk);
      return old.filter(({ playbook_id, revision }) => used.has(`${playbook_id} ${revision}`));
    },
    keep: (tx, version) => tx.update(playbookVersions, version, { last_used_at: tx.now }),
  });
}

interface VersionReaper<R extends Scope> {
  readonly chunk: number;
  /** Old versions, by the time of their last use. */
  readonly index: Index<R>;
  /** Returns the versions that are in use, of one account and mode. */
  readonly findUsed: (reads: Reads, old: readonly Seen<R>[]) => Promise<readonly Seen<R>[]>;
  /** Marks a version as used now. It is checked again after the retention time. */
  readonly keep: (tx: UnscopedTx, version: Seen<R>) => void;
}

/**
 * The uses are read before the transaction. This is safe, because only the current version gets new
 * sessions and frames, and these versions were replaced at least a day ago.
 */
function versionReaper<R extends Scope>(
  { store, clock, runRetentionDays }: Runtime,
  { chunk, index, findUsed, keep }: VersionReaper<R>,
): () => Promise<number> {
  const keptMs = runRetentionDays * dayMs;
  const { collection } = index;
  return async () => {
    const old = await store.unscopedReads.range({
      index,
      prefix: [],
      order: "ascending",
      until: [clock.now() - keptMs],
      limit: chunk,
    });
    const used = new Set<Seen<R>>();
    const scopes = Map.groupBy(old, scopeKey);
    for (const versions of scopes.values()) {
      const [scope] = versions;
      if (scope === undefined) continue;
      const found = await findUsed(store.unscopedReads.in(scope), versions);
      for (const version of found) used.add(version);
    }
    const unused = old.filter((version) => !used.has(version));
    await store.commitUnscoped(async (tx) => {
      for (const row of await reread(tx, collection.primary, [...used])) keep(tx, row);
      for (const row of await reread(tx, collection.primary, unused)) tx.remove(collection, row);
    }, background);
    return old.length;
  };
}

/** Returns the versions of playbooks that conversations are playing, as `id revision`. */
async function playedVersions(reads: Reads, chunk: number): Promise<ReadonlySet<string>> {
  const played = new Set<string>();
  let after: readonly KeyValue[] = [];
  for (;;) {
    const sessions = await reads.range({
      index: playingSessions,
      prefix: [],
      order: "ascending",
      ...(after.length === 0 ? {} : { after }),
      limit: chunk,
    });
    for (const { playbook_id, revision } of sessions.flatMap(({ frames }) => frames)) {
      played.add(`${playbook_id} ${revision}`);
    }
    const last = sessions.at(-1);
    if (last === undefined || sessions.length < chunk) return played;
    after = [last.conversation_id];
  }
}
