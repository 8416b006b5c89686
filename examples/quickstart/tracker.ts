/** Follows messages in the engine and keeps what the terminal shows of each. */
import type { Message, MessagingEngine } from "tidings";
import type { Scenario } from "./scenarios.ts";
import type { Row } from "./terminal.ts";
import { stepsOf, type Step } from "./timeline-steps.ts";

interface TrackedMessage {
  readonly id: string;
  /** Undefined for a message that was sent by hand. */
  readonly scenario: Scenario | undefined;
  readonly replies: Step[];
  /** Undefined until it is read for the first time. */
  message: Message | undefined;
  attempts: number;
  steps: readonly Step[];
}

/** A step that was not there at the last refresh. */
export interface NewStep {
  readonly row: Row;
  readonly step: Step;
  /** Seconds since the message was accepted. */
  readonly seconds: number;
}

/**
 * All receipts and look-ups of the sandbox arrive within this time. Older messages are not read
 * again.
 */
const trackedMs = 90_000;

export class MessageTracker {
  readonly #engine: MessagingEngine;
  readonly #tracked = new Map<string, TrackedMessage>();

  constructor(engine: MessagingEngine) {
    this.#engine = engine;
  }

  /**
   * Tracks a message that a scenario sent. The engine's event may have added the message already.
   */
  addScenario(id: string, scenario: Scenario): void {
    const known = this.#tracked.get(id) ?? untouched(id);
    this.#tracked.set(id, { ...known, scenario });
  }

  /** Tracks any other message. */
  add(id: string): void {
    if (!this.#tracked.has(id)) this.#tracked.set(id, untouched(id));
  }

  /** Adds a contact's reply to the row of the last message to that contact. */
  addReply(phone: string, body: string): void {
    const tracked = [...this.#tracked.values()].findLast((each) => addressOf(each) === phone);
    tracked?.replies.push({ at: new Date().toISOString(), text: `← “${body}”`, tone: "good" });
  }

  /** Reads the messages again. Returns the new steps, oldest first. */
  async refresh(): Promise<readonly NewStep[]> {
    const steps = await Promise.all([...this.#tracked.values()].map((each) => this.#read(each)));
    return steps.flat().toSorted((a, b) => (a.step.at < b.step.at ? -1 : 1));
  }

  /** Returns the rows to show. With `isLate`, an unfinished scenario counts as failed. */
  rows({ isLate = false } = {}): Row[] {
    const tracked = [...this.#tracked.values()];
    const ofScenarios = tracked
      .filter(({ scenario }) => scenario !== undefined)
      .toSorted((a, b) => (addressOf(a) < addressOf(b) ? -1 : 1));
    const others = tracked.filter((each) => each.scenario === undefined && isFromProgram(each));
    return [...ofScenarios, ...others].map((each) => rowOf(each, isLate));
  }

  /** Whether every scenario has reached its expected result. */
  hasPassed(): boolean {
    return [...this.#tracked.values()].every(
      (each) => each.scenario === undefined || matches(each, each.scenario),
    );
  }

  async #read(tracked: TrackedMessage): Promise<NewStep[]> {
    const known = tracked.message;
    if (known !== undefined && Date.now() - Date.parse(known.created_at) > trackedMs) return [];
    const { data } = await this.#engine.messages.timeline(tracked.id);
    tracked.message = await this.#engine.messages.get(tracked.id);
    tracked.attempts = data.filter(({ type }) => type === "attempt").length;
    const before = tracked.steps.length;
    tracked.steps = [...stepsOf(data), ...tracked.replies].toSorted((a, b) =>
      a.at < b.at ? -1 : a.at > b.at ? 1 : 0,
    );
    if (!isFromProgram(tracked)) return [];
    const row = rowOf(tracked, false);
    return tracked.steps
      .slice(before)
      .map((step) => ({ row, step, seconds: secondsUntil(tracked.message, step.at) }));
  }
}

/** Messages of the agent and of people are not on the board. */
const isFromProgram = ({ message }: TrackedMessage): boolean => message?.author.type === "api";

const untouched = (id: string): TrackedMessage => ({
  id,
  scenario: undefined,
  replies: [],
  message: undefined,
  attempts: 0,
  steps: [],
});

function rowOf(tracked: TrackedMessage, isLate: boolean): Row {
  const { message, scenario, steps } = tracked;
  const hasPassed = scenario !== undefined && matches(tracked, scenario);
  const isFinished = scenario === undefined || hasPassed;
  const endedAt = isFinished ? steps.at(-1)?.at : undefined;
  return {
    to: addressOf(tracked),
    label: scenario?.label ?? shortened(message?.body ?? ""),
    steps,
    seconds: secondsUntil(message, endedAt ?? new Date().toISOString()),
    passed: scenario !== undefined && (hasPassed || isLate) ? hasPassed : undefined,
  };
}

const addressOf = ({ message, scenario }: TrackedMessage): string =>
  message?.to ?? scenario?.to ?? "";

function matches({ message, attempts, replies }: TrackedMessage, expected: Scenario): boolean {
  const { expectedReply, expectedStatus, expectedAttempts } = expected;
  const hasReplied =
    expectedReply === undefined || replies.some(({ text }) => text.includes(expectedReply));
  return message?.status === expectedStatus && attempts === expectedAttempts && hasReplied;
}

const secondsUntil = (message: Message | undefined, at: string): number =>
  message === undefined ? 0 : Math.max(0, Date.parse(at) - Date.parse(message.created_at)) / 1_000;

const shortened = (text: string): string => (text.length > 20 ? `${text.slice(0, 19)}…` : text);
