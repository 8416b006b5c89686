import { setTimeout as sleep } from "node:timers/promises";
import { validateAnswer } from "../../../../src/agents/index.ts";
import type { AgentModel, ModelAnswer, ModelTurn } from "../../../../src/ports/index.ts";
import { display, Mismatch } from "../checks.ts";
import type { Checks } from "../suite.ts";
import { asking, daySlot, salonTurn } from "./salon.ts";

/**
 * What a model does in a turn. `replies`: it returns a text for the contact. `hands_off`: it asks
 * for a person. `calls_action`: it calls the turn's action `find_times`. `starts_playbook`: it
 * starts the turn's playbook. `finds_slot`: it finds the value that the task asks for.
 * `stops_early`: its answer is cut off, because it is too long or was filtered. `fails`: the server
 * of the model answers with an error. `hangs`: the model never answers.
 */
export type ModelBehavior =
  | "replies"
  | "hands_off"
  | "calls_action"
  | "starts_playbook"
  | "finds_slot"
  | "stops_early"
  | "fails"
  | "hangs";

/** What a check can need of a model. `usage`: it counts tokens. */
export type ModelNeed = ModelBehavior | "usage";

/** A model, with what makes it behave in each way. */
export interface ModelUnderTest {
  /** The model, or just its function `respond`: what the engine takes as `agents.model`. */
  readonly model: AgentModel | AgentModel["respond"];
  /**
   * What the contact writes so that the model behaves in this way. A simulated server can look for
   * this text in what it is asked. It is the last message of the turn, except in some turns of the
   * check of unusual turns, in which the model must only answer.
   */
  text(behavior: ModelBehavior): string;
  /** Called after the test. */
  remove?(): Promise<void>;
}

/** How the model answers: all behaviors with an answer. */
const answering = [
  "replies",
  "hands_off",
  "calls_action",
  "starts_playbook",
  "finds_slot",
] as const satisfies readonly ModelBehavior[];

type Answering = (typeof answering)[number];

/** A behavior, a turn in which the model has it, and the answer. */
export interface Answered {
  readonly behavior: Answering;
  readonly turn: ModelTurn;
  readonly answer: ModelAnswer;
}

/** How long a call may take to end after an abort, in milliseconds. */
const maxEndMs = 1_000;

/** The model of one test. */
export class Fixture {
  readonly model: AgentModel;
  readonly underTest: ModelUnderTest;
  /** The ways to answer that the model has. */
  readonly ways: readonly Answering[];

  constructor(underTest: ModelUnderTest, unable: Partial<Readonly<Record<ModelNeed, string>>>) {
    const { model } = underTest;
    this.model = typeof model === "function" ? { respond: model } : model;
    this.underTest = underTest;
    this.ways = answering.filter((behavior) => unable[behavior] === undefined);
  }

  /** A new turn in which the model behaves in this way. */
  turn(behavior: ModelBehavior): ModelTurn {
    const turn = salonTurn(this.underTest.text(behavior));
    if (behavior === "finds_slot") return asking(turn, daySlot);
    return behavior === "calls_action" ? turn : { ...turn, actions: [] };
  }

  /** Asks the model, and fails unless the answer is an object. */
  async respond(
    turn: ModelTurn,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<ModelAnswer> {
    const answer: unknown = await this.model.respond(turn, { signal });
    if (typeof answer !== "object" || answer === null || Array.isArray(answer)) {
      throw new Mismatch("an object as the answer", display(answer));
    }
    return answer;
  }

  /** Asks the model for an answer of this kind, and fails if it is another one. */
  async answer(behavior: Answering): Promise<Answered> {
    const turn = this.turn(behavior);
    const answered = { behavior, turn, answer: await this.respond(turn) };
    checkKind(answered);
    return answered;
  }
}

/** Fails unless the engine, which drops what is invalid, finds the behavior in the answer. */
export function checkKind({ behavior, turn, answer }: Answered): void {
  const { text, handoff, calls, playbook_id, slots } = validateAnswer(answer, turn).answer;
  const { task, actions, playbooks } = turn;
  const name = task.type === "extract" ? task.slot.name : "";
  const isRight = {
    replies: text !== undefined && text.trim() !== "" && calls === undefined,
    hands_off: handoff !== undefined && handoff.reason.trim() !== "",
    calls_action: calls?.some((call) => actions.some((each) => each.name === call.action)),
    starts_playbook: playbooks.some(({ id }) => id === playbook_id),
    finds_slot: slots?.[name] !== undefined,
  }[behavior];
  if (isRight !== true) throw new Mismatch(expectedOf[behavior], display(answer));
}

const expectedOf: Readonly<Record<Answering, string>> = {
  replies: "an answer with a `text`, and without `calls`",
  hands_off: "a `handoff` with a reason",
  calls_action: "a call of `find_times`",
  starts_playbook: "the `playbook_id` of the turn's playbook",
  finds_slot: "a value in `slots` under the name of the slot",
};

/** Fails unless the call ends within a second, with an answer or an error. */
export async function checkEndsSoon(call: Promise<unknown>): Promise<void> {
  const ended = new AbortController();
  const late = sleep(maxEndMs, "late", { signal: ended.signal }).catch(() => "ended");
  const over = call.then(
    () => "ended",
    () => "ended",
  );
  const first = await Promise.race([over, late]);
  ended.abort();
  if (first === "late") throw new Mismatch(`an end within ${maxEndMs} ms`, "no end");
}

/** Lets the event loop run, so that a request can leave the process. */
export async function runEventLoop(): Promise<void> {
  for (let i = 0; i < 100; i++) await new Promise((resolve) => setImmediate(resolve));
}

export type ModelChecks = Checks<Fixture, ModelNeed>;
