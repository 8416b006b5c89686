/** What the steps of a run say about the way through one playbook. */
import type { PlaybookStepOutcome, RunStep } from "../../../../../src/index.ts";
import type { GraphEdge } from "./graph.ts";

/** The way of a run through one playbook. */
export interface Way {
  /** The ids of the steps that the run entered. */
  readonly entered: ReadonlySet<string>;
  /** The step that the run is at, or that waits. Undefined if the playbook has ended. */
  readonly present: string | undefined;
  readonly isTaken: (edge: Pick<GraphEdge, "from" | "to" | "kind" | "label">) => boolean;
}

/** One version of a playbook that a run has played. */
export interface Played {
  readonly id: string;
  readonly version: number;
}

const waiting: ReadonlySet<PlaybookStepOutcome | null> = new Set([
  null,
  "asked",
  "asked_again",
  "called",
  "awaiting_approval",
]);

/** The playbooks that a run has played, in the order in which it entered them. */
export function playedIn(steps: readonly RunStep[]): readonly Played[] {
  const played = new Map<string, Played>();
  for (const { playbook } of steps) {
    if (playbook) played.set(`${playbook.id} ${playbook.version}`, playbook);
  }
  return [...played.values()];
}

/** The way of a run through one version of a playbook. */
export function wayOf(steps: readonly RunStep[], { id, version }: Played): Way {
  const own = steps.filter(({ playbook }) => playbook?.id === id && playbook.version === version);
  const last = own.at(-1);
  const isThere = last?.playbook !== undefined && waiting.has(last.playbook.outcome);
  return {
    entered: new Set(own.map(({ name }) => name ?? "")),
    present: isThere ? (last.name ?? undefined) : undefined,
    isTaken: ({ from, to, kind, label }) =>
      own.some(
        ({ name, output, playbook }) =>
          name === from &&
          playbook?.next === to &&
          kindsOf(playbook.outcome).includes(kind) &&
          // A redaction takes the condition away, and other ways may lead to the same step.
          (kind !== "case" || output === null || output === label),
      ),
  };
}

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
