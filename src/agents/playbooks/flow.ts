/** Which step of a playbook can follow which. Steps are their places in the list here. */
import type { PlaybookDefinition, PlaybookStep } from "./types.ts";

export type Path = readonly (string | number)[];

/** A step that is named as one that follows, and where it is named. */
export interface Target {
  readonly path: Path;
  readonly id: string;
}

/** Every step that is named to follow another. */
export function targetsIn({ steps, on_cancel }: PlaybookDefinition): Target[] {
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

/** Where a step can lead: to those that it names, and to the one below unless it says what is next or ends it all. */
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

/** The steps that can be come to: from the first, and from the one for when it is called off. */
export function reachable(definition: PlaybookDefinition): ReadonlySet<number> {
  const onCancel = definition.steps.findIndex(({ id }) => id === definition.on_cancel);
  const found = new Set([0, onCancel].filter((place) => place in definition.steps));
  // What is added on the way is come by too.
  for (const place of found) for (const { to } of edgesOf(definition, place)) found.add(to);
  return found;
}

/** Where ways close that go round without a question: there the last step of one leads back to its first. */
export function loopsIn(definition: PlaybookDefinition): Path[] {
  const loops: Path[] = [];
  const done = new Set<number>();
  const way = new Set<number>();
  const follow = (place: number): void => {
    if (done.has(place) || definition.steps[place]?.type === "ask") return;
    way.add(place);
    for (const { path, to } of edgesOf(definition, place)) {
      if (way.has(to)) loops.push(path);
      else follow(to);
    }
    way.delete(place);
    done.add(place);
  };
  for (const place of definition.steps.keys()) follow(place);
  return loops;
}
