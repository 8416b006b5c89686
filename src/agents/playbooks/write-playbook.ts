import {
  byIdSchema,
  invalid,
  notFound,
  TidingsError,
  withId,
  type ById,
  type FieldError,
  type PlaybookId,
} from "../../kernel/index.ts";
import {
  canonicalJson,
  freeOrdinal,
  showsNothing,
  showsOutput,
  type Call,
  type Command,
  type Services,
} from "../../operations/index.ts";
import type { Seen } from "../../ports/index.ts";
import type { Tx } from "../../store/index.ts";
import { unknownAction } from "../actions/show-actions.ts";
import { agentByOrdinal, maxAgents } from "../rows.ts";
import { changedDefinition, playbookDefinitionOf } from "./definition.ts";
import { callersAbove, callsOf, playbookErrors } from "./graph-rules.ts";
import {
  createPlaybookSchema,
  updatePlaybookSchema,
  type CreatePlaybook,
  type UpdatePlaybook,
} from "./input-types.ts";
import { playbookResource } from "./reads.ts";
import {
  maxPlaybooks,
  playbookById,
  playbookByOrdinal,
  playbooks,
  playbookVersionOf,
  playbookVersions,
  type PlaybookRow,
} from "./rows.ts";
import type { Playbook, PlaybookDefinition } from "./types.ts";

export const createPlaybook: Command<CreatePlaybook, Playbook> = {
  kind: "command",
  name: "playbooks.create",
  input: () => createPlaybookSchema,
  status: 201,
  shows: showsOutput,
  async run(tx, input, call) {
    const { enabled = false } = input;
    const definition = playbookDefinitionOf(input);
    if (enabled) await checkAndHoldCalled(tx, call, definition);
    return playbookResource(await insertPlaybook(tx, { definition, enabled }));
  },
};

/**
 * Creates a new version of a playbook. Conversations that are playing it keep the version that they
 * started with.
 */
export const updatePlaybook: Command<UpdatePlaybook & ById, Playbook> = {
  kind: "command",
  name: "playbooks.update",
  input: () => withId(updatePlaybookSchema, "The id of the playbook."),
  status: 200,
  shows: showsOutput,
  async run(tx, { id, ...change }, call) {
    const before = await playbookToChange(tx, id);
    const { enabled = before.enabled } = change;
    const definition = changedDefinition(before.definition, change);
    if (enabled) await checkAndHoldCalled(tx, call, definition, before.id);
    return playbookResource(await writePlaybook(tx, before, { definition, enabled }));
  },
};

/**
 * Removes a playbook. It cannot be started from this commit on. Conversations that are playing it
 * continue. A playbook that an agent or an enabled playbook uses cannot be removed.
 */
export const removePlaybook: Command<ById, void> = {
  kind: "command",
  name: "playbooks.remove",
  input: () => byIdSchema,
  status: 204,
  shows: showsNothing,
  async run(tx, { id }) {
    const playbook = await playbookToChange(tx, id);
    // No race: a transaction that starts to use the playbook writes its row. For callers,
    // `checkAndHoldCalled` does; for agents, `write-agent.ts`.
    const [agents, others] = await Promise.all([
      tx.list(agentByOrdinal, [], maxAgents),
      tx.list(playbookByOrdinal, [], maxPlaybooks),
    ]);
    const agent = agents.find(({ playbook_ids }) => playbook_ids.includes(playbook.id));
    if (agent !== undefined) {
      throw inUse("An agent uses the playbook. Remove it from the agent first.", agent.id);
    }
    const caller = others.find(
      (each) =>
        each.enabled && each.id !== playbook.id && callsOf(each.definition).includes(playbook.id),
    );
    if (caller !== undefined) {
      throw inUse(
        "Another enabled playbook calls this one. Change or disable that playbook first.",
        caller.id,
      );
    }
    tx.remove(playbooks, playbook);
    await retireVersion(tx, playbook);
  },
};

function inUse(detail: string, conflictingId: string): TidingsError {
  return new TidingsError("conflict", detail, { conflictingId });
}

/** @throws TidingsError `not_found` */
async function playbookToChange(tx: Tx, id: string): Promise<Seen<PlaybookRow>> {
  const playbook = await tx.get(playbookById, [id]);
  if (playbook === undefined) throw notFound("playbook", id);
  return playbook;
}

/**
 * Checks that a playbook can be played. `id` is its own id if it exists already. All playbooks that
 * it reaches through calls are held: otherwise two changes at once could each add one half of a
 * circle. The playbooks that it calls itself are also updated without a change, so that a
 * concurrent removal of one of them conflicts with this transaction.
 * @throws TidingsError `validation_failed`, with a pointer to each problem
 */
async function checkAndHoldCalled(
  tx: Tx,
  { services }: Pick<Call, "services">,
  definition: PlaybookDefinition,
  id?: PlaybookId,
): Promise<void> {
  const found = new Map<PlaybookId, Seen<PlaybookRow> | undefined>();
  for (let next = callsOf(definition); next.length > 0;) {
    const ids = [...new Set(next)].filter((each) => each !== id && !found.has(each));
    const rows = await Promise.all(ids.map((each) => tx.get(playbookById, [each], { hold: true })));
    for (const [i, each] of ids.entries()) found.set(each, rows[i]);
    next = rows.flatMap((row) => (row?.enabled === true ? callsOf(row.definition) : []));
  }
  const callable = (called: PlaybookId): PlaybookDefinition | undefined => {
    if (called === id) return definition;
    const row = found.get(called);
    return row?.enabled === true ? row.definition : undefined;
  };
  const above = id === undefined || found.size === 0 ? 0 : await touchCallers(tx, id);
  const errors = [
    ...playbookErrors(definition, callable, services.language, above),
    ...unknownActions(definition, services),
  ];
  if (errors.length > 0) throw invalid(errors);
  for (const called of callsOf(definition)) {
    const row = found.get(called);
    if (row !== undefined) tx.touch(playbooks, row);
  }
}

/**
 * Returns the length of the longest chain of enabled playbooks that call one. Updates these
 * playbooks without a change: otherwise two changes at once could each add one half of a chain that
 * is too long. The other change updates the playbook that it calls, and holds those below.
 */
async function touchCallers(tx: Tx, id: PlaybookId): Promise<number> {
  const all = await tx.list(playbookByOrdinal, [], maxPlaybooks);
  const levels = callersAbove(
    id,
    all.filter((each) => each.enabled && each.id !== id),
  );
  for (const caller of new Set(levels.flat())) tx.touch(playbooks, caller);
  return levels.length;
}

function unknownActions(
  { steps }: PlaybookDefinition,
  { actions }: Pick<Services, "actions">,
): FieldError[] {
  return steps.flatMap((step, i) =>
    step.type === "run" && !actions.has(step.action)
      ? [unknownAction(`/steps/${i}/action`, step.action, actions)]
      : [],
  );
}

interface PlaybookFields {
  readonly definition: PlaybookDefinition;
  readonly enabled: boolean;
}

/**
 * Inserts a playbook and its first version. Definitions of playbooks are only changed in this file,
 * so that every version is stored.
 * @throws TidingsError `conflict` when the account has reached the maximum
 */
export async function insertPlaybook(
  tx: Tx,
  { definition, enabled }: PlaybookFields,
): Promise<Seen<PlaybookRow>> {
  const playbook = tx.insert(playbooks, {
    id: tx.drawId("pb"),
    ordinal: await freeOrdinal(tx, playbookByOrdinal, maxPlaybooks),
    enabled,
    revision: 1,
    definition,
    created_at: tx.now,
    updated_at: tx.now,
  });
  insertVersion(tx, playbook);
  return playbook;
}

/** Updates a playbook. A changed definition makes a new version; `enabled` is not part of it. */
async function writePlaybook(
  tx: Tx,
  before: Seen<PlaybookRow>,
  { definition, enabled }: PlaybookFields,
): Promise<Seen<PlaybookRow>> {
  const isSame = canonicalJson(definition) === canonicalJson(before.definition);
  if (isSame && enabled === before.enabled) return before;
  const revision = isSame ? before.revision : before.revision + 1;
  const after = tx.update(playbooks, before, { definition, enabled, revision, updated_at: tx.now });
  if (isSame) return after;
  await retireVersion(tx, before);
  insertVersion(tx, after);
  return after;
}

async function retireVersion(tx: Tx, { id, revision }: PlaybookRow): Promise<void> {
  const version = await tx.get(playbookVersionOf, [id, revision]);
  if (version !== undefined) tx.update(playbookVersions, version, { last_used_at: tx.now });
}

function insertVersion(tx: Tx, { id: playbook_id, revision, definition }: PlaybookRow): void {
  tx.insert(playbookVersions, {
    playbook_id,
    revision,
    definition,
    created_at: tx.now,
    last_used_at: null,
  });
}
