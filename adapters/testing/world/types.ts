/** What users see of a world. */
import type { StoragePort } from "../../../src/ports/index.ts";
import type { MessagingEngine, StopOptions } from "../../entry.ts";
import type { CarrierCall } from "../carrier/script.ts";
import type { ScriptedCarrier } from "../carrier/scripted-carrier.ts";
import type { ScriptedModel } from "../model/scripted-model.ts";
import type { ScriptedReceiver } from "../receiver/scripted-receiver.ts";
import type { Dice } from "../simulated/dice.ts";
import type { Time, VirtualClock } from "../simulated/virtual-clock.ts";
import type { CallOptions, CallOutcome, HostCode, UpEngine } from "./calls.ts";
import type { MakeEngine, WorldTransport } from "./engine-process.ts";
import type { EngineRun } from "./engine-run.ts";
import type { Fault, FaultPlace, FaultRates } from "./faults.ts";
import type { LogLine, WorldObserver } from "./observer.ts";
import type { Remote } from "./run-context.ts";
import type { Story } from "./story.ts";

/** Options of `world()`. */
export interface WorldOptions<Tx extends object | undefined = object | undefined> {
  /**
   * Determines which faults happen, every delay and every id: a number from -900,000,000,000 to
   * 900,000,000,000.
   * @default 1
   */
  readonly seed?: number | undefined;
  /**
   * Where the engines keep their data: `memory()`, or `sqlite({ file })` on a real file. All
   * engines share it, over connections that can fail.
   */
  readonly storage: StoragePort<Tx>;
  /** The carriers: scripted ones, or functions that make a transport for each engine. */
  readonly transports: readonly [WorldTransport, ...WorldTransport[]];
  /** The receivers of webhooks. Default: a receiver that responds to everything with status 200. */
  readonly receiver?: ScriptedReceiver | undefined;
  /** The model of agents. Default: a model that thanks for each message. */
  readonly model?: ScriptedModel | undefined;
  /**
   * How many engines there are, 1 to 9. They are named `engine 1` and so on.
   * @default 1
   */
  readonly engines?: number | undefined;
  /**
   * Makes an engine from what the world gives it: `(ports) => new MessagingEngine({ ...ports,
   * policies })`. Called at each start of its process. Default: an engine without further options.
   */
  readonly engine?: MakeEngine<Tx> | undefined;
  /**
   * The rates of single faults, from 0 to 1: how likely each is at each call. With `"any"`, the
   * seed decides which faults happen and how often. Default: none.
   */
  readonly faults?: "any" | Partial<FaultRates> | undefined;
  /**
   * The time at which the world begins.
   * @default "2026-01-01T00:00:00.000Z"
   */
  readonly start?: Time | undefined;
  /** Functions that are called when something happens, for laws of your own. */
  readonly observe?: WorldObserver | undefined;
}

/** Options of `world.crash`. */
export interface CrashOptions {
  /** How long the process stays down, in milliseconds. Default: until `restart` or `settle`. */
  readonly forMs?: number | undefined;
  /** The reason, for the story, such as "before it calls the carrier". */
  readonly why?: string | undefined;
}

/** Options of `world.settle`. */
export interface SettleOptions {
  /**
   * How long the work may take, in milliseconds of virtual time.
   * @default 172800000 (48 hours)
   */
  readonly withinMs?: number | undefined;
}

/** What a law found. */
export interface Finding {
  /** What is wrong, as the end of a sentence. */
  readonly description: string;
  /** Ids of resources whose story explains it. Default: the whole story. */
  readonly about?: readonly string[] | undefined;
}

/**
 * A law of a world. Returns undefined if it holds. If not, it returns what it found, or throws, as
 * an assertion of a test runner does. A violation shows the function's name.
 */
export type Law<Tx extends object | undefined = object | undefined> = (
  world: World<Tx>,
) => LawResult | Promise<LawResult>;

/** What a law returns. A block of assertions returns nothing if they hold. */
export type LawResult = Finding | string | undefined | void;

/** Engines on one storage, one virtual clock and one seed. `world()` makes one. */
export interface World<Tx extends object | undefined = object | undefined> extends AsyncDisposable {
  /** The seed. The same seed and the same calls give the same history. */
  readonly seed: number;
  /** The clock of the world. Each engine's own clock may differ by some seconds. */
  readonly clock: VirtualClock;
  /** Random choices that depend on the seed. */
  readonly dice: Dice;
  /** What has happened so far. */
  readonly story: Story;
  /** The names of the engines. */
  readonly engines: readonly string[];
  /** The names of the engines that are up. */
  readonly up: readonly string[];
  /** How likely each fault is now. */
  readonly faults: Partial<FaultRates>;
  /** The scripted carriers. */
  readonly carriers: readonly ScriptedCarrier[];
  /** The calls that reached the scripted carriers, in order. */
  readonly calls: readonly CarrierCall[];
  /** The receivers of webhooks. */
  readonly receiver: ScriptedReceiver;
  /** The model of agents. */
  readonly model: ScriptedModel;
  /** The warnings and errors that the engines logged. */
  readonly log: readonly LogLine[];
  /** How far two clocks of this world can have differed at most, in milliseconds. */
  readonly clockToleranceMs: number;
  /**
   * How long a commit and the reads before it can have taken at most by the clocks of this world,
   * in milliseconds. 0 if no fault could have delayed them and all clocks are equal.
   */
  readonly commitToleranceMs: number;
  /** The committed rows, for invariants. No fault applies to these reads. */
  readonly reader: StoragePort["reader"];
  /**
   * An engine that is up: the one with this name, or the first.
   * @throws Error when it is down, or when there is no engine with this name
   */
  engine(name?: string): MessagingEngine<Tx>;
  /**
   * An engine that is up, chosen by the seed or by its name. Waits in virtual time while there is
   * none.
   * @throws Error when there is no engine with this name, like all methods that take a name
   */
  whenUp(name?: string): Promise<UpEngine<Tx>>;
  /** The latest run of an engine's process. */
  runOf(name: string): EngineRun;
  /**
   * Starts code of the host application in the process of an engine, and does not move time. The
   * promise resolves when the outcome is known. If the call has a name (`as`), the story records
   * when it began and how it ended. If the process crashes, the code gets no more answers, and the
   * outcome is unknown.
   */
  begin<T>(code: HostCode<T, Tx>, options?: CallOptions): Promise<CallOutcome<T>>;
  /**
   * Runs code of the host application in the process of an engine, and moves time until it has
   * ended.
   * @throws Whatever the code throws, and Error when the process crashes or the time is up
   */
  run<T>(code: HostCode<T, Tx>, options?: CallOptions): Promise<T>;
  /**
   * Moves time by `ms` milliseconds, like `clock.advance`. Resolves when everything that was due
   * has finished.
   */
  advance(ms: number): Promise<void>;
  /**
   * Ends the process of an engine at once: everything in its memory is gone, and calls that are
   * under way never get an answer. It stays down until `restart` or `settle`, or for `forMs`.
   */
  crash(name: string, options?: CrashOptions): void;
  /** Starts the process of an engine that is down, with a new engine. */
  restart(name: string): void;
  /**
   * Stops an engine cleanly, as a deployment does. It stays down until `restart` or `settle`. The
   * promise resolves when the engine has stopped, which may need time to move: `deadlineMs` is 10 s
   * of virtual time by default.
   */
  stop(name: string, options?: StopOptions): Promise<void>;
  /**
   * Cuts an engine off from the storage, from the carriers, or from the receivers of webhooks and
   * the model (`internet`), until `heal` or `settle`.
   */
  partition(name: string, from: Remote): void;
  /** Ends all partitions of an engine. */
  heal(name: string): void;
  /**
   * Sets the clock of an engine: `ms` ahead of the world's clock, or behind it if negative. A
   * restart sets it right again.
   */
  skewClock(name: string, ms: number): void;
  /**
   * Makes a fault happen once, at the next call that it can happen to. `after` skips that many
   * calls first.
   * @throws TidingsError `invalid_option` when there is no such fault
   */
  inject(fault: Fault, place?: FaultPlace): void;
  /** Ends all faults and partitions, and restarts engines that are down. Does not move time. */
  stopFaults(): void;
  /** What is still to be done, one sentence each. */
  pending(): Promise<readonly string[]>;
  /**
   * Stops the faults, ends partitions, restarts engines that are down, and moves time until nothing
   * is left to do: every call is answered, and every message has its outcome.
   * @throws Error with what is still to be done, when that takes longer than `withinMs`
   */
  settle(options?: SettleOptions): Promise<void>;
  /**
   * Checks laws: the engine's own, from `invariants`, and yours.
   * @throws Violation with the story, at the first law that is broken. An error that a law throws
   *   is its `cause`
   * @throws TidingsError `invalid_option` when a law returns something else than a `Law` does
   */
  check(...laws: readonly Law<Tx>[]): Promise<void>;
  /** Ends all processes and closes the storage. Files of the storage can be removed afterwards. */
  [Symbol.asyncDispose](): Promise<void>;
}
