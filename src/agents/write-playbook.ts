import type { DrawId } from "../kernel/index.ts";
import { playbookBySlot, playbooks, type PlaybookRow, playbookVersions } from "./playbooks/rows.ts";
import { mostPlaybooks } from "./playbooks/rules.ts";
import type { PlaybookDefinition } from "./playbooks/types.ts";
import { canonicalJson } from "../operations/index.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { freeSlot } from "../senders/index.ts";

interface Playbook {
  readonly definition: PlaybookDefinition;
  readonly enabled: boolean;
}

/**
 * Playbooks are written here alone, so that each version that there was is kept.
 * @throws TidingsError `conflict` when the account has as many as it may have
 */
export async function insertPlaybook(
  tx: Tx,
  drawId: DrawId,
  { definition, enabled }: Playbook,
): Promise<Seen<PlaybookRow>> {
  const playbook = tx.insert(playbooks, {
    id: drawId("pb"),
    slot: await freeSlot(tx, playbookBySlot, mostPlaybooks),
    enabled,
    revision: 1,
    definition,
    created_at: tx.now,
    updated_at: tx.now,
  });
  keepVersion(tx, playbook);
  return playbook;
}

/** A change of the definition makes a new version; whether it is enabled is no part of that. */
export function updatePlaybook(
  tx: Tx,
  before: Seen<PlaybookRow>,
  { definition, enabled }: Playbook,
): Seen<PlaybookRow> {
  const isSame = canonicalJson(definition) === canonicalJson(before.definition);
  if (isSame && enabled === before.enabled) return before;
  const revision = isSame ? before.revision : before.revision + 1;
  const after = tx.update(playbooks, before, { definition, enabled, revision, updated_at: tx.now });
  if (!isSame) keepVersion(tx, after);
  return after;
}

function keepVersion(tx: Tx, { id: playbook_id, revision, definition }: PlaybookRow): void {
  tx.insert(playbookVersions, {
    playbook_id,
    revision,
    definition,
    created_at: tx.now,
  });
}
