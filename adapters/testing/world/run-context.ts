import type { Clock, StoragePort, Write } from "../../../src/ports/index.ts";
import type { Dice } from "../dice.ts";
import type { VirtualClock } from "../simulated.ts";
import type { EngineRun, ProcessRun } from "./engine-run.ts";
import type { Fault } from "./faults.ts";
import type { Connection, ConnectionOptions } from "./shared-storage.ts";
import type { Call, PortCall } from "./port-calls.ts";
import type { Story } from "./story.ts";

/** What an engine can be cut off from. `internet`: the receivers of webhooks, and the model. */
export type Remote = "storage" | "carrier" | "internet";

/** The storage of a world, as its engines connect to it. */
export interface Ground {
  connect(options: ConnectionOptions): Connection;
  watch(listener: () => void): () => void;
  yieldToEventLoop(): Promise<void>;
  /** Reads what is committed. No fault applies. */
  readonly reader: StoragePort["reader"];
  close(): Promise<void>;
}

/** A fault that happened, and the call that it happened to. */
export interface MetFault {
  /** The name of the fault. */
  readonly fault: Fault;
  /** The name of the engine. */
  readonly engine: string;
  /** The call. A fault of the carrier's reports happens to `receipt` or `text`. */
  readonly call: PortCall;
  /** The names of the collections that the call reads or writes. Empty for other calls. */
  readonly collections: readonly string[];
  /** The writes of a commit, also those that are not written because of the fault. */
  readonly writes: readonly Write[];
}

/** Called at the moment at which something happens. They must not call an engine. */
export interface WorldObserver {
  /** An engine has just committed these rows. */
  readonly onCommit?: (run: EngineRun, writes: readonly Write[]) => void;
  /** A fault happens to a call of an engine, drawn by the seed or injected. */
  readonly onFault?: (met: MetFault) => void;
  /** An engine has logged a warning or an error. */
  readonly onLog?: (line: LogLine) => void;
}

/** A line that an engine logged. */
export interface LogLine {
  /** The name of the engine. */
  readonly engine: string;
  /** How serious it is. */
  readonly level: "warn" | "error";
  /** The facts, as the engine passed them to its logger. */
  readonly facts: object;
  /** The message. */
  readonly message: string;
}

/** The parts of a world that the ports of an engine use. */
export interface Surroundings {
  readonly clock: VirtualClock;
  readonly dice: Dice;
  readonly story: Story;
  readonly ground: Ground;
  readonly observe: WorldObserver;
  /** The most event-loop turns by which a storage call is delayed. */
  readonly maxYields: number;
  /** The ids of the locks of engines that are held, as the storage sees it. */
  readonly heldLocks: Set<string>;
  /** What the engines logged. */
  readonly log: LogLine[];
  /** The runs of engines that watch the storage. */
  readonly watchers: Set<EngineRun>;
  /** Resolves when an engine that was cut off is connected again. */
  healed(): Promise<void>;
}

/** One run of an engine, as its ports see it. */
export interface RunContext {
  readonly world: Surroundings;
  readonly run: ProcessRun;
  /** The clock of this engine. */
  readonly clock: Clock;
  /** Whether a fault happens to this call of the engine. */
  readonly occurs: (fault: Fault, at: Call) => boolean;
  /** Whether this engine cannot reach the remote. */
  readonly isCutOff: (remote: Remote) => boolean;
  /** Ends the process of this engine. */
  readonly crash: (why: string) => void;
}
