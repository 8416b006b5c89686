import { calledBy, checkGraph } from "./playbooks/graph.ts";
import { playbookById, playbooks, type PlaybookRow } from "./playbooks/rows.ts";
import type { PlaybookDefinition } from "./playbooks/types.ts";
import { type FieldError, invalid, type PlaybookId } from "../kernel/index.ts";
import type { Call, Services } from "../operations/index.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";

/** Playbooks that one leads to. What lies beyond can't be called. */
const mostCalled = 100;

/**
 * Makes sure that a playbook can be played as it would be: `id` is its own, where it has one. The playbooks that it calls are written, so
 * that who removes one of them at this moment comes before this, or after it and finds the caller.
 * @throws TidingsError `validation_failed`, with what is wrong and where
 */
export async function checkPlaybook(
  tx: Tx,
  { services }: Pick<Call, "services">,
  definition: PlaybookDefinition,
  id?: PlaybookId,
): Promise<void> {
  const found = new Map<PlaybookId, Seen<PlaybookRow> | undefined>();
  for (let next = calledBy(definition); next.length > 0;) {
    const ids = [...new Set(next)]
      .filter((each) => each !== id && !found.has(each))
      .slice(0, mostCalled - found.size);
    const rows = await Promise.all(ids.map((each) => tx.get(playbookById, [each])));
    for (const [i, each] of ids.entries()) found.set(each, rows[i]);
    next = rows.flatMap((row) => (row?.enabled === true ? calledBy(row.definition) : []));
  }
  const errors = [
    ...checkGraph(
      definition,
      (called) => {
        const row = found.get(called);
        if (called === id) return definition;
        return row?.enabled === true ? row.definition : undefined;
      },
      services.language,
    ),
    ...unknownActions(definition, services),
  ];
  if (errors.length > 0) throw invalid(errors);
  for (const called of calledBy(definition)) {
    const row = found.get(called);
    if (row !== undefined) tx.update(playbooks, row, {});
  }
}

function unknownActions(
  { steps }: PlaybookDefinition,
  { actions }: Pick<Services, "actions">,
): FieldError[] {
  return steps.flatMap((step, i) =>
    step.type === "run" && !actions.has(step.action)
      ? [
          {
            pointer: `/steps/${i}/action`,
            code: "unknown_action",
            message: "the engine has no such action",
          },
        ]
      : [],
  );
}
