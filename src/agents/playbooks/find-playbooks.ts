import type { PlaybookId } from "../../kernel/index.ts";
import type { Reads } from "../../store/index.ts";
import { callsOf } from "./graph-rules.ts";
import type { FindPlaybook, Frame } from "./play/frames.ts";
import { maxPlaybooks, playbookById, playbookVersionOf } from "./rows.ts";
import type { PinnedPlaybook } from "./types.ts";

interface WantedPlaybooks {
  /** The agent's own playbooks. */
  readonly own: readonly PlaybookId[];
  /** The playbook that a trigger asked for. */
  readonly requested: readonly PlaybookId[];
  readonly frames: readonly Frame[];
}

interface FoundPlaybooks {
  /** The agent's own playbooks that are enabled. */
  readonly startable: readonly PinnedPlaybook[];
  readonly findPlaybook: FindPlaybook;
}

/**
 * Loads the playbooks that an agent may start, the playbooks that these call, and the versions that
 * the conversation is playing.
 */
export async function findPlaybooks(
  reads: Reads,
  { own, requested, frames }: WantedPlaybooks,
): Promise<FoundPlaybooks> {
  const current = new Map<string, PinnedPlaybook>();
  const pinned = new Map<string, PinnedPlaybook>();
  const versions = await reads.getAll(
    playbookVersionOf,
    frames.map(({ playbook_id, revision }) => [playbook_id, revision] as const),
  );
  for (const { playbook_id: id, revision, definition } of versions) {
    pinned.set(`${id} ${revision}`, { id, revision, definition });
  }
  let wanted = [...own, ...requested, ...versions.flatMap(({ definition }) => callsOf(definition))];
  // Every playbook that can be played is loaded: an account has no more than this.
  for (const seen = new Set<string>(); wanted.length > 0 && seen.size < maxPlaybooks;) {
    const next = [...new Set(wanted)]
      .filter((id) => !seen.has(id))
      .slice(0, maxPlaybooks - seen.size);
    for (const id of next) seen.add(id);
    const rows = await reads.getAll(
      playbookById,
      next.map((id) => [id] as const),
    );
    for (const { id, enabled, revision, definition } of rows) {
      if (enabled) current.set(id, { id, revision, definition });
    }
    wanted = rows.flatMap(({ definition }) => callsOf(definition));
  }
  return {
    startable: own.flatMap((id) => current.get(id) ?? []),
    findPlaybook: (id, revision) =>
      revision === undefined
        ? current.get(id)
        : (pinned.get(`${id} ${revision}`) ?? sameRevision(current.get(id), revision)),
  };
}

/** Finds a playbook that started in this turn. */
function sameRevision(
  current: PinnedPlaybook | undefined,
  revision: number,
): PinnedPlaybook | undefined {
  return current?.revision === revision ? current : undefined;
}
