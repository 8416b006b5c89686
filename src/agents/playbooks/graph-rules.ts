/** What is wrong in a playbook, seen as a graph of its steps, and which playbooks it calls. */
import type { FieldError, PlaybookId } from "../../kernel/index.ts";
import type { Language } from "../../ports/index.ts";
import { maxFrames } from "./play/frames.ts";
import type { PlaybookStep } from "./step-types.ts";
import { problemAt, problemsInTexts, type Path } from "./text-rules.ts";
import type { PinnedPlaybook, PlaybookDefinition } from "./types.ts";

/**
 * Finds a playbook that can be called: an enabled one, or the new definition of the checked one.
 */
type Callable = (id: PlaybookId) => PlaybookDefinition | undefined;

const maxErrors = 100;

/**
 * Returns the problems of a playbook, each with a JSON pointer. An empty list means that it may be
 * enabled: every name is known, every step can be reached, and every loop contains a question. A
 * question that is reached again is asked again, so such a loop waits for the contact each time.
 * `above` is the length of the longest chain of enabled playbooks that call this one.
 */
export function playbookErrors(
  definition: PlaybookDefinition,
  callable: Callable,
  language: Language,
  above = 0,
): FieldError[] {
  const { steps, slots } = definition;
  if (steps.length === 0) {
    return [problemAt(["steps"], "required", "The playbook has no steps. Add at least one.")];
  }
  const problems = [
    ...indexesOfRepeated(steps.map(({ id }) => id)).map((place) => {
      const message = `An earlier step has the id "${steps[place]?.id}" too.`;
      return problemAt(["steps", place, "id"], "duplicate", message);
    }),
    ...indexesOfRepeated(slots.map(({ name }) => name)).map((place) => {
      const message = `An earlier slot has the name "${slots[place]?.name}" too.`;
      return problemAt(["slots", place, "name"], "duplicate", message);
    }),
    ...unknownTargets(definition),
    ...unknownSlots(definition),
    ...problemsInTexts(definition, language),
    ...wrongCalls(definition, callable, above),
    ...unreachableSteps(definition),
    ...loopsIn(definition).map((path) => problemAt(path, "endless_loop", endlessLoop)),
  ];
  return problems.slice(0, maxErrors);
}

const endlessLoop =
  "This closes a loop without a question to the contact. Add an ask step to the loop.";

/** Returns the ids of the playbooks that a playbook calls. */
export function callsOf({ steps }: PlaybookDefinition): readonly PlaybookId[] {
  return [...new Set(steps.flatMap((step) => (step.type === "call" ? [step.playbook_id] : [])))];
}

/** The first occurrence of a name is not repeated. */
function indexesOfRepeated(names: readonly string[]): number[] {
  return [...names.keys()].filter((place) => names.indexOf(names[place] ?? "") < place);
}

function unknownTargets(definition: PlaybookDefinition): FieldError[] {
  const ids = new Set(definition.steps.map(({ id }) => id));
  return targetsIn(definition)
    .filter(({ id }) => !ids.has(id))
    .map(({ path, id }) => problemAt(path, "unknown_step", `There is no step "${id}".`));
}

function unknownSlots({ steps, slots }: PlaybookDefinition): FieldError[] {
  const known = new Set(slots.map(({ name }) => name));
  const used: { path: Path; name: string }[] = steps.flatMap((step, place) => {
    if (step.type === "ask") return [{ path: ["steps", place, "slot"], name: step.slot }];
    const names = step.type === "set" ? Object.keys(step.values) : [];
    return names.map((name) => ({ path: ["steps", place, "values", name], name }));
  });
  return used
    .filter(({ name }) => !known.has(name))
    .map(({ path, name }) => problemAt(path, "unknown_slot", `There is no slot "${name}".`));
}

function unreachableSteps(definition: PlaybookDefinition): FieldError[] {
  const found = reachable(definition);
  return [...definition.steps.keys()]
    .filter((place) => !found.has(place))
    .map((place) =>
      problemAt(["steps", place], "unreachable", "No other step leads to this step."),
    );
}

/**
 * Finds calls of unknown playbooks, and calls that form a circle: a called playbook starts
 * afresh and may ask nothing, so a circle could run for ever.
 */
function wrongCalls(
  { steps }: PlaybookDefinition,
  callable: Callable,
  above: number,
): FieldError[] {
  const depths = new Map<PlaybookId, number>();
  return steps.flatMap((step, place) => {
    if (step.type !== "call") return [];
    const wrong = (code: string, message: string): FieldError[] => [
      problemAt(["steps", place, "playbook_id"], code, message),
    ];
    if (callable(step.playbook_id) === undefined) {
      return wrong("unknown_playbook", "There is no enabled playbook with this id.");
    }
    const depth = depthOf(step.playbook_id, callable, [], depths);
    if (depth === Infinity) {
      return wrong("endless_loop", "This call makes playbooks call each other in a circle.");
    }
    if (above + depth < maxFrames) return [];
    const chain = `Enabled playbooks already form a chain of ${above} above this one.`;
    const limit = `Calls may nest at most ${maxFrames} playbooks, including the first.`;
    return wrong("too_deep", above === 0 ? limit : `${limit} ${chain}`);
  });
}

/** Returns how deep a call nests playbooks; Infinity if one calls itself. */
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
    const below = definition === undefined ? [] : callsOf(definition);
    depth = 1 + Math.max(0, ...below.map((each) => depthOf(each, callable, [...above, id], known)));
    known.set(id, depth);
  }
  return depth;
}

/**
 * Returns the playbooks that call one: those that call it themselves, then those that call one of
 * these, and so on, at most `maxFrames` lists. `others` are the playbooks that can be played.
 */
export function callersAbove<P extends Pick<PinnedPlaybook, "id" | "definition">>(
  id: PlaybookId,
  others: readonly P[],
): readonly (readonly P[])[] {
  const levels: P[][] = [];
  let called = new Set([id]);
  while (called.size > 0 && levels.length < maxFrames) {
    const callers = others.filter(({ definition }) =>
      callsOf(definition).some((each) => called.has(each)),
    );
    if (callers.length > 0) levels.push(callers);
    called = new Set(callers.map((each) => each.id));
  }
  return levels;
}

/** A reference to a following step, and the field that has it. */
interface Target {
  readonly path: Path;
  readonly id: string;
}

function targetsIn({ steps, on_cancel }: PlaybookDefinition): Target[] {
  const ofCancel = on_cancel === undefined ? [] : [{ path: ["on_cancel"], id: on_cancel }];
  return [...steps.flatMap(targetsOf), ...ofCancel];
}

function targetsOf(step: PlaybookStep, place: number): Target[] {
  const named = (field: string, id: string | undefined): Target[] =>
    id === undefined ? [] : [{ path: ["steps", place, field], id }];
  const cases = step.type === "branch" ? step.cases : [];
  return [
    ...("next" in step ? named("next", step.next) : []),
    ...(step.type === "ask" ? named("on_fail", step.on_fail) : []),
    ...(step.type === "run" ? named("on_error", step.on_error) : []),
    ...cases.map(({ next }, each) => ({ path: ["steps", place, "cases", each, "next"], id: next })),
  ];
}

interface Edge {
  readonly path: Path;
  readonly to: number;
}

/**
 * Returns where a step can lead: to the steps that it names, and to the next one in the list unless
 * it sets `next` or ends the playbook.
 */
function edgesOf({ steps }: PlaybookDefinition, place: number): Edge[] {
  const step = steps[place];
  if (step === undefined) return [];
  const named = targetsOf(step, place).map(({ path, id }) => ({
    path,
    to: steps.findIndex((each) => each.id === id),
  }));
  const fallsThrough =
    step.type !== "handoff" && step.type !== "resolve" && step.next === undefined;
  const below =
    fallsThrough && place + 1 < steps.length ? [{ path: ["steps", place], to: place + 1 }] : [];
  return [...named.filter(({ to }) => to !== -1), ...below];
}

/** Returns the steps that can be reached from the first step and from `on_cancel`. */
function reachable(definition: PlaybookDefinition): ReadonlySet<number> {
  const onCancel = definition.steps.findIndex(({ id }) => id === definition.on_cancel);
  const found = new Set([0, onCancel].filter((place) => place in definition.steps));
  // The loop also visits the items that it adds.
  for (const place of found) for (const { to } of edgesOf(definition, place)) found.add(to);
  return found;
}

/** Returns the references that close a loop without a question. */
function loopsIn(definition: PlaybookDefinition): Path[] {
  const loops: Path[] = [];
  const done = new Set<number>();
  const ancestors = new Set<number>();
  const follow = (place: number): void => {
    if (done.has(place) || definition.steps[place]?.type === "ask") return;
    ancestors.add(place);
    for (const { path, to } of edgesOf(definition, place)) {
      if (ancestors.has(to)) loops.push(path);
      else follow(to);
    }
    ancestors.delete(place);
    done.add(place);
  };
  for (const place of definition.steps.keys()) follow(place);
  return loops;
}
