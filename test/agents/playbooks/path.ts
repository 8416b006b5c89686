/** Whether the recorded steps of one turn are a path through the graphs of playbooks. */
import type { PlaybookStep } from "../../../src/agents/playbooks/step-types.ts";
import type { PlaybookDefinition } from "../../../src/agents/playbooks/types.ts";
import type { PlaybookStepOutcome, RunStep } from "../../../src/agents/runs/step-types.ts";

type Definition = Pick<PlaybookDefinition, "steps" | "on_cancel">;

/** The outcomes that each type of step can have, with the fields that name the step that follows. */
const exits: {
  readonly [type in PlaybookStep["type"]]: Partial<Record<PlaybookStepOutcome, string>>;
} = {
  send: { done: "next" },
  ask: {
    answered: "next",
    skipped: "next",
    filled: "next",
    limit: "on_fail",
    asked: "",
    asked_again: "",
  },
  set: { done: "next" },
  run: { done: "next", failed: "on_error", awaiting_approval: "" },
  branch: { condition: "cases", otherwise: "next" },
  instruct: { done: "next", failed: "next", handed_off: "" },
  call: { done: "next", called: "", resolved: "", handed_off: "" },
  handoff: { handed_off: "" },
  resolve: { resolved: "" },
};

/** The steps to which a step can lead with an outcome. Null is the end. */
function targets(
  { steps, on_cancel }: Definition,
  step: PlaybookStep,
  outcome: PlaybookStepOutcome | null,
): (string | null)[] {
  const following = steps[steps.indexOf(step) + 1]?.id ?? null;
  const usual = ("next" in step ? step.next : undefined) ?? following;
  // Limits and failures can end a playbook at any step, and so can the contact.
  if (outcome === "canceled") return [on_cancel ?? null, null];
  const field = outcome === null ? undefined : exits[step.type][outcome];
  const ends = outcome === "limit" || outcome === "failed" ? [null] : [];
  if (field === undefined) return ends;
  if (field === "cases") return step.type === "branch" ? step.cases.map(({ next }) => next) : [];
  if (field === "on_fail") return [...ends, step.type === "ask" ? (step.on_fail ?? usual) : null];
  if (field === "on_error") return [...ends, step.type === "run" ? (step.on_error ?? null) : null];
  return [...ends, field === "next" ? usual : null];
}

/** Returns what is wrong with a path: nothing, if it is one. */
export function pathFaults(
  recorded: readonly RunStep[],
  definitionOf: (id: string) => Definition | undefined,
): string[] {
  const path = recorded.flatMap(({ name, playbook }) => (playbook ? [{ name, ...playbook }] : []));
  return path.flatMap((at, place) => {
    const definition = definitionOf(at.id);
    const step = definition?.steps.find(({ id }) => id === at.name);
    if (definition === undefined || step === undefined) return [`${at.name} is no step`];
    const faults: string[] = [];
    if (!targets(definition, step, at.outcome).includes(at.next)) {
      faults.push(`${at.name} (${step.type}) cannot lead to ${at.next} when ${at.outcome}`);
    }
    const after = path.slice(place + 1);
    if (step.type === "call" && after[0] !== undefined && at.outcome !== "failed") {
      if (after[0].id !== step.playbook_id) faults.push(`${at.name} called ${after[0].id}`);
    }
    const follower = after.find(({ id }) => id === at.id);
    const expected = at.next ?? definition.steps[0]?.id;
    const mayEnd = at.next === null && follower === undefined;
    if (!mayEnd && follower?.name !== expected) {
      faults.push(`${follower?.name} follows ${at.name}, not ${expected}`);
    }
    return faults;
  });
}
