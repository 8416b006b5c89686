import type { Write } from "../../../src/ports/index.ts";
import type { Dice } from "../simulated/dice.ts";
import type { PortCall } from "./ports/port-calls.ts";

/**
 * How likely each fault is at each call that it can happen to, from 0 (never) to 1 (always). A
 * fault that is left out never happens.
 */
export interface FaultRates {
  /** A commit fails, as if another transaction had changed or locked one of its rows. */
  readonly commitConflicts: number;
  /** A commit fails and nothing is written. */
  readonly commitFailsBefore: number;
  /** A commit is written, but its answer is lost: the engine gets an error. */
  readonly commitFailsAfter: number;
  /** A commit takes up to 3 s. */
  readonly commitSlow: number;
  /** The process stalls for up to a minute after a commit. */
  readonly commitStalls: number;
  /** The process crashes before a commit is written. */
  readonly crashBeforeCommit: number;
  /** The process crashes after a commit is written, and before it gets the answer. */
  readonly crashAfterCommit: number;
  /** A read fails. */
  readonly readFails: number;
  /** A read takes up to 300 ms. */
  readonly readSlow: number;
  /** The engine loses its connection to the storage for up to 20 s. */
  readonly connectionLost: number;
  /** An engine does not learn that another one has committed. */
  readonly notificationLost: number;
  /** The process crashes before it calls the carrier. */
  readonly crashBeforeSend: number;
  /** The carrier gets a message, and the process crashes before it gets the answer. */
  readonly crashAfterSend: number;
  /** A call to the carrier fails before it gets there. */
  readonly sendFailsBefore: number;
  /** The carrier gets a message, but its answer is lost. */
  readonly sendFailsAfter: number;
  /** A call takes up to 15 s to reach the carrier. */
  readonly sendSlow: number;
  /** The carrier's answer takes up to 45 s. */
  readonly sendAnswerSlow: number;
  /** The carrier asks the engine to send a message later. */
  readonly carrierThrottles: number;
  /** The carrier refuses a message for good. */
  readonly carrierRefuses: number;
  /** A look-up fails, or takes up to 8 s. */
  readonly lookupFails: number;
  /** A look-up answers that the outcome is unknown. */
  readonly lookupUnknown: number;
  /** A look-up finds a message, but not its receipts yet. */
  readonly lookupLags: number;
  /** A receipt is never delivered. Only a look-up shows it. */
  readonly receiptLost: number;
  /** A receipt or an inbound message is delivered twice. */
  readonly reportTwice: number;
  /** A receipt arrives before earlier ones, perhaps before the answer to the call. */
  readonly receiptEarly: number;
  /** The process crashes before it posts an event to a webhook. */
  readonly crashBeforePost: number;
  /** A receiver gets an event, and the process crashes before it gets the response. */
  readonly crashAfterPost: number;
  /** A request to a webhook fails before it gets there. */
  readonly postFailsBefore: number;
  /** A receiver gets an event, but its response is lost. */
  readonly postFailsAfter: number;
  /** A request takes up to 5 s to reach the receiver. */
  readonly postSlow: number;
  /** A receiver responds with status 500. */
  readonly receiverFails: number;
  /** A receiver responds with status 429, and asks the engine to wait for up to 90 s. */
  readonly receiverThrottles: number;
  /** A receiver never responds. */
  readonly receiverHangs: number;
  /** The process crashes while it asks the model. */
  readonly crashAtModel: number;
  /** A request to the model fails. */
  readonly modelFails: number;
  /** The model answers, but its answer is lost. */
  readonly modelAnswerLost: number;
  /** A request takes up to 30 s to reach the model. */
  readonly modelSlow: number;
  /** An engine starts with a clock that is up to 2 s ahead of the world's clock, or behind it. */
  readonly clockSkewed: number;
}

/** The name of a fault. */
export type Fault = keyof FaultRates;

/** The highest rates that `faults: "any"` draws. Higher rates would hide most other behavior. */
export const highestRates: FaultRates = {
  commitConflicts: 0.08,
  commitFailsBefore: 0.06,
  commitFailsAfter: 0.06,
  commitSlow: 0.4,
  commitStalls: 0.04,
  crashBeforeCommit: 0.005,
  crashAfterCommit: 0.005,
  readFails: 0.03,
  readSlow: 0.06,
  connectionLost: 0.004,
  notificationLost: 0.5,
  crashBeforeSend: 0.025,
  crashAfterSend: 0.025,
  sendFailsBefore: 0.12,
  sendFailsAfter: 0.15,
  sendSlow: 0.3,
  sendAnswerSlow: 0.3,
  carrierThrottles: 0.25,
  carrierRefuses: 0.1,
  lookupFails: 0.2,
  lookupUnknown: 0.3,
  lookupLags: 0.5,
  receiptLost: 0.15,
  reportTwice: 0.3,
  receiptEarly: 0.5,
  crashBeforePost: 0.02,
  crashAfterPost: 0.02,
  postFailsBefore: 0.12,
  postFailsAfter: 0.15,
  postSlow: 0.3,
  receiverFails: 0.25,
  receiverThrottles: 0.1,
  receiverHangs: 0.08,
  crashAtModel: 0.05,
  modelFails: 0.15,
  modelAnswerLost: 0.1,
  modelSlow: 0.3,
  clockSkewed: 1,
};

/** The names of all faults. */
export const faultNames = Object.keys(highestRates) as readonly Fault[];

/** The faults that delay a commit, or the reads before it. */
const delaysOfCommits: ReadonlySet<string> = new Set<Fault>([
  "commitConflicts",
  "commitFailsBefore",
  "commitFailsAfter",
  "commitSlow",
  "commitStalls",
  "readFails",
  "readSlow",
  "connectionLost",
]);

/**
 * How long each part of a call may take at most, in milliseconds. Together the delays stay below
 * the time that an engine may stall while it holds a job: its lease and 60 seconds.
 */
export const maxDelayMs = {
  /** A stall after a commit. */
  stall: 60_000,
  /** A lost connection to the storage. */
  outage: 20_000,
  commit: 3_000,
  read: 300,
  /** From the engine to the carrier. */
  carrierCall: 15_000,
  /** From the carrier back. */
  carrierAnswer: 45_000,
  lookup: 8_000,
  /** From the engine to a webhook's receiver. */
  post: 5_000,
  /** From the engine to the model. */
  model: 30_000,
} as const;

/** How far the clock of an engine may differ from the world's at its start, in milliseconds. */
export const maxSkewMs = 2_000;

/**
 * Draws which faults occur, and how often. Leaving some out matters: one fault can hide the effects
 * of another.
 */
export function drawRates(dice: Dice): FaultRates {
  const drawn = faultNames.map((name): [Fault, number] => [
    name,
    dice.chance(0.6) ? highestRates[name] * dice.number() : 0,
  ]);
  return Object.fromEntries(drawn) as Record<Fault, number>;
}

/** A fault that happens, and the call that it happens to. */
export interface MetFault {
  /** The name of the fault. */
  readonly fault: Fault;
  /** The name of the engine. */
  readonly engine: string;
  /** The kind of call. Faults of what the carrier reports happen to `receipt` or `text`. */
  readonly call: PortCall;
  /** The collections that a read or a commit concerns, by name. Empty for other calls. */
  readonly collections: readonly string[];
  /** The writes of a commit, even if the fault prevents them. Empty for other calls. */
  readonly writes: readonly Write[];
}

/** Which calls an injected fault happens to. */
export interface FaultPlace {
  /** The name of the engine. Default: any engine. */
  readonly engine?: string | undefined;
  /**
   * How many calls that it could happen to are skipped first. Those at which another injection
   * makes it happen count too.
   * @default 0
   */
  readonly after?: number | undefined;
  /**
   * Whether it could happen to a call, such as a commit that writes messages. It is told what
   * `observe.onFault` would be told. It must not call an engine. Default: to every call.
   */
  readonly where?: ((call: MetFault) => boolean) | undefined;
}

interface Injected extends Omit<FaultPlace, "after"> {
  readonly fault: Fault;
  /** How many calls are still to be skipped. */
  left: number;
}

/** Decides at each call which faults happen. */
export class FaultSource {
  #rates: Partial<FaultRates>;
  #injected: Injected[] = [];
  readonly #dice: Dice;
  #delaysCommits: boolean;

  constructor(rates: Partial<FaultRates>, dice: Dice) {
    this.#rates = rates;
    this.#delaysCommits = Object.entries(rates).some(
      ([name, rate]) => rate > 0 && delaysOfCommits.has(name),
    );
    this.#dice = dice;
  }

  /** The current rates. */
  get rates(): Partial<FaultRates> {
    return this.#rates;
  }

  /** Whether a fault that delays commits was ever possible. */
  get delaysCommits(): boolean {
    return this.#delaysCommits;
  }

  inject(fault: Fault, { after = 0, ...place }: FaultPlace): void {
    this.#delaysCommits ||= delaysOfCommits.has(fault);
    this.#injected.push({ ...place, fault, left: after });
  }

  /** From now on no fault happens. */
  stop(): void {
    this.#rates = {};
    this.#injected = [];
  }

  /**
   * Whether a fault happens now. Ask once at each point of a call at which it can happen.
   * `describe` returns the fault as if it happened.
   */
  occurs(fault: Fault, engine: string, describe: () => MetFault): boolean {
    const planned = this.#injected.filter(
      (each) =>
        each.fault === fault &&
        (each.engine ?? engine) === engine &&
        (each.where?.(describe()) ?? true),
    );
    const due = planned.find(({ left }) => left === 0);
    // Each injection counts this call, also if another one makes the fault happen.
    for (const each of planned) if (each.left > 0) each.left--;
    if (due !== undefined) {
      this.#injected = this.#injected.filter((each) => each !== due);
      return true;
    }
    return this.#dice.chance(this.#rates[fault] ?? 0);
  }
}
