/** Whether a playbook can be played from its first step on, wherever that leads: checked as a whole when it is enabled. */
import { type FieldError, inBody, type PlaybookId } from "../../kernel/index.ts";
import type { Language } from "../../ports/index.ts";
import { loopsIn, reachable, targetsIn, type Path } from "./flow.ts";
import { mostFrames } from "./frames.ts";
import { findingsInTexts, type Finding } from "./names.ts";
import type { PlaybookDefinition } from "./types.ts";

/** The playbooks that can be called: those that are enabled, and the one that is checked as it is to be. */
export type Callable = (id: PlaybookId) => PlaybookDefinition | undefined;

const mostErrors = 100;

/**
 * What is wrong with a playbook, each with a JSON pointer to where; nothing when it may be enabled. Then every name stands for something,
 * every step can be come to, and no way goes round without a question: one that is come to again is put again, so a way that goes round
 * through one waits for the contact each time.
 */
export function checkGraph(
  definition: PlaybookDefinition,
  callable: Callable,
  language: Language,
): FieldError[] {
  const { steps, slots } = definition;
  if (steps.length === 0) {
    return [{ ...inBody(["steps"]), code: "required", message: "There must be a step." }];
  }
  const findings = [
    ...twice(steps.map(({ id }) => id)).map((place) => ({
      path: ["steps", place, "id"],
      code: "duplicate",
      message: `A step before is called "${steps[place]?.id}" too.`,
    })),
    ...twice(slots.map(({ name }) => name)).map((place) => ({
      path: ["slots", place, "name"],
      code: "duplicate",
      message: `A slot before is called "${slots[place]?.name}" too.`,
    })),
    ...unknownTargets(definition),
    ...unknownSlots(definition),
    ...findingsInTexts(definition, language),
    ...wrongCalls(definition, callable),
    ...unreachableSteps(definition),
    ...loopsIn(definition).map((path) => ({
      path,
      code: "endless_loop",
      message: "Here it goes round without a question to the contact.",
    })),
  ];
  return findings
    .slice(0, mostErrors)
    .map(({ path, code, message }) => ({ ...inBody(path), code, message }));
}

/** The playbooks that one calls, to be looked up before it is checked. */
export function calledBy({ steps }: PlaybookDefinition): readonly PlaybookId[] {
  return [...new Set(steps.flatMap((step) => (step.type === "call" ? [step.playbook_id] : [])))];
}

/** The places of names that were there before. */
function twice(names: readonly string[]): number[] {
  return [...names.keys()].filter((place) => names.indexOf(names[place] ?? "") < place);
}

function unknownTargets(definition: PlaybookDefinition): Finding[] {
  const ids = new Set(definition.steps.map(({ id }) => id));
  return targetsIn(definition)
    .filter(({ id }) => !ids.has(id))
    .map(({ path, id }) => ({ path, code: "unknown_step", message: `There is no step "${id}".` }));
}

function unknownSlots({ steps, slots }: PlaybookDefinition): Finding[] {
  const names = new Set(slots.map(({ name }) => name));
  const used: { path: Path; name: string }[] = steps.flatMap((step, place) => {
    if (step.type === "ask") return [{ path: ["steps", place, "slot"], name: step.slot }];
    if (step.type !== "set") return [];
    return Object.keys(step.values).map((name) => ({
      path: ["steps", place, "values", name],
      name,
    }));
  });
  return used
    .filter(({ name }) => !names.has(name))
    .map(({ path, name }) => ({
      path,
      code: "unknown_slot",
      message: `There is no slot "${name}".`,
    }));
}

function unreachableSteps(definition: PlaybookDefinition): Finding[] {
  const found = reachable(definition);
  return [...definition.steps.keys()]
    .filter((place) => !found.has(place))
    .map((place) => ({
      path: ["steps", place],
      code: "unreachable",
      message: "No way leads to this step.",
    }));
}

/** Calls of what is not there, and of what would call itself: a playbook that is called begins anew, and may have nothing to ask. */
function wrongCalls({ steps }: PlaybookDefinition, callable: Callable): Finding[] {
  const depths = new Map<PlaybookId, number>();
  return steps.flatMap((step, place) => {
    if (step.type !== "call") return [];
    const path = ["steps", place, "playbook_id"];
    if (callable(step.playbook_id) === undefined) {
      return [
        { path, code: "unknown_playbook", message: "There is no such playbook that is enabled." },
      ];
    }
    const depth = depthOf(step.playbook_id, callable, [], depths);
    if (depth === Infinity) {
      return [
        { path, code: "endless_loop", message: "Here playbooks call one another in a circle." },
      ];
    }
    if (depth < mostFrames) return [];
    return [
      {
        path,
        code: "too_deep",
        message: `At most ${mostFrames} playbooks may lie on top of one another.`,
      },
    ];
  });
}

/** How many playbooks lie on top of one another by a call; without end where one comes to itself. */
function depthOf(
  id: PlaybookId,
  callable: Callable,
  above: readonly PlaybookId[],
  known: Map<PlaybookId, number>,
): number {
  if (above.includes(id)) return Infinity;
  let depth = known.get(id);
  if (depth === undefined) {
    const definition = callable(id);
    const below = definition === undefined ? [] : calledBy(definition);
    depth = 1 + Math.max(0, ...below.map((each) => depthOf(each, callable, [...above, id], known)));
    known.set(id, depth);
  }
  return depth;
}
