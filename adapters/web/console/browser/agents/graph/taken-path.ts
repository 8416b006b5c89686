/** Derives the path of a run through a playbook from the steps of the run. */
import type { PlaybookStepOutcome, RunStep } from "../../../../../../src/index.ts";
import type { GraphEdge } from "./graph.ts";

/** The path of a run through one playbook. */
export interface TakenPath {
  /** The ids of the steps that the run entered. */
  readonly entered: ReadonlySet<string>;
  /** The step that is in progress or waits. Undefined if the playbook has ended. */
  readonly current: string | undefined;
  /** Whether the run took this edge. */
  readonly includes: (edge: Pick<GraphEdge, "from" | "to" | "kind" | "label">) => boolean;
}

/** One version of a playbook that a run has played. */
export interface PlayedPlaybook {
  readonly id: string;
  readonly version: number;
}

/** The outcomes after which a step has not been left. */
const unfinished: ReadonlySet<PlaybookStepOutcome | null> = new Set([
  null,
  "asked",
  "asked_again",
  "called",
  "awaiting_approval",
]);

/** Returns the playbooks that a run has played, in the order in which it entered them. */
export function playedIn(steps: readonly RunStep[]): readonly PlayedPlaybook[] {
  const played = new Map<string, PlayedPlaybook>();
  for (const { playbook } of steps) {
    if (playbook) played.set(`${playbook.id} ${playbook.version}`, playbook);
  }
  return [...played.values()];
}

/** Returns the path of a run through one version of a playbook. */
export function takenPath(steps: readonly RunStep[], { id, version }: PlayedPlaybook): TakenPath {
  const own = steps.filter(({ playbook }) => playbook?.id === id && playbook.version === version);
  const last = own.at(-1);
  const isAtStep = last?.playbook !== undefined && unfinished.has(last.playbook.outcome);
  return {
    entered: new Set(own.map(({ name }) => name ?? "")),
    current: isAtStep ? (last.name ?? undefined) : undefined,
    includes: ({ from, to, kind, label }) =>
      own.some(
        ({ name, output, playbook }) =>
          name === from &&
          playbook?.next === to &&
          kindsOf(playbook.outcome).includes(kind) &&
          // Several conditions may lead to the same step. A redaction removes which one was true.
          (kind !== "case" || output === null || output === label),
      ),
  };
}

/** The kinds of edges by which a run may have left a step with this outcome. */
function kindsOf(outcome: PlaybookStepOutcome | null): readonly GraphEdge["kind"][] {
  switch (outcome) {
    case "condition":
      return ["case"];
    case "failed":
      return ["error", "next"];
    case "limit":
      return ["fail", "next"];
    default:
      return ["next"];
  }
}
