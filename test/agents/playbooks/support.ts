import { english } from "../../../adapters/language/index.ts";
import { simulated } from "../../../adapters/testing/index.ts";
import type { Move, MoveResult, TurnMoves } from "../../../src/agents/moves.ts";
import {
  beginFrame,
  type FindPlaybook,
  type Frame,
} from "../../../src/agents/playbooks/play/frames.ts";
import type { PlayOptions } from "../../../src/agents/playbooks/play/play-types.ts";
import { play, type Played } from "../../../src/agents/playbooks/play/play.ts";
import type { Slot } from "../../../src/agents/playbooks/slot-types.ts";
import type { PlaybookStep } from "../../../src/agents/playbooks/step-types.ts";
import type { PinnedPlaybook, PlaybookDefinition } from "../../../src/agents/playbooks/types.ts";
import type { RunStep } from "../../../src/agents/runs/step-types.ts";
import { RunSteps } from "../../../src/agents/turns/execution/run-steps.ts";
import type { PlaybookId } from "../../../src/kernel/ids.ts";

/** Tuesday, 24 November 2026, at noon in New York. */
export const most: Omit<PlayOptions, "findPlaybook"> = {
  maxSteps: 50,
  language: english(),
  now: Date.UTC(2026, 10, 24, 17),
  contact: { name: "Ada", phone: "+15005550101", time_zone: "America/New_York" },
  stopsOn: () => false,
  mayFillSlot: () => true,
};

export const idOf = (place: number): PlaybookId => `pb_0000000000000000000000000${place}`;

export function slot(name: string, more: Partial<Slot> = {}): Slot {
  return { name, type: "text", required: true, prompt: `${name}?`, ...more };
}

export function definition(
  steps: readonly PlaybookStep[],
  slots: readonly Slot[] = [],
  more: Partial<PlaybookDefinition> = {},
): PlaybookDefinition {
  return {
    name: "Some",
    description: "",
    trigger: { priority: 0 },
    slots: [...slots],
    steps: [...steps],
    ...more,
  };
}

/** Finds the playbooks by index, each in version 1. */
export function finderOf(...definitions: readonly PlaybookDefinition[]): FindPlaybook {
  const playbooks = definitions.map((definition, place) => ({
    id: idOf(place),
    revision: 1,
    definition,
  }));
  return (id) => playbooks.find((playbook) => playbook.id === id);
}

/** A move that asks for something. */
type Call = Extract<Move, { readonly do: "act" | "think" }>;
/** A move that records the path. */
export type Note = Extract<Move, { readonly do: "enter" | "leave" }>;

/** Makes a call. */
export type World = (call: Call) => MoveResult;

/** Every action fails, and no model answers. */
export const failing: World = (move) =>
  move.do === "act"
    ? { done: "acted", outcome: { status: "failed", error: "no" } }
    : { done: "thought", answer: null, failure: null };

const isNote = (move: Move): move is Note => move.do === "enter" || move.do === "leave";

/** Plays until the playbook asks, waits or ends; also returns the calls and the path. */
export function run(
  moves: TurnMoves<Played>,
  world: World,
): { played: Played; made: Call[]; path: Note[] } {
  const made: Call[] = [];
  const path: Note[] = [];
  let next = moves.next();
  while (next.done !== true) {
    const move = next.value;
    if (isNote(move)) {
      path.push(move);
      next = moves.next({ done: "noted" });
    } else if (move.do === "settle") {
      next = moves.next({ done: "settled", calls: [] });
    } else {
      made.push(move);
      next = moves.next(world(move));
    }
  }
  return { played: next.value, made, path };
}

/** The steps that a run records of a path. */
export function recordOf(path: readonly Note[]): readonly RunStep[] {
  const steps = new RunSteps(simulated().clock, []);
  for (const note of path) {
    if (note.do === "enter") steps.enter(note);
    else steps.leave(note);
  }
  return steps.all;
}

/** A conversation with the first of the playbooks. */
export class Talk {
  readonly #findPlaybook: FindPlaybook;
  readonly #world: World;
  #frames: readonly Frame[] = [];
  end: Played["end"] | null = null;

  constructor(findPlaybook: FindPlaybook, world: World = failing) {
    this.#findPlaybook = findPlaybook;
    this.#world = world;
  }

  get frames(): readonly Frame[] {
    return this.#frames;
  }

  begin(slots: Frame["slots"] = {}): readonly string[] {
    this.#frames = [beginFrame(this.#findPlaybook(idOf(0)) as PinnedPlaybook, slots, most)];
    return this.say(null);
  }

  say(said: string | null): readonly string[] {
    const { played } = run(
      play(this.#frames, said, { ...most, findPlaybook: this.#findPlaybook }),
      this.#world,
    );
    // Frames are stored as JSON between turns.
    this.#frames = JSON.parse(JSON.stringify(played.frames)) as Frame[];
    this.end = played.end;
    return played.texts;
  }
}
