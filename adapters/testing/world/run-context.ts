import type { Clock } from "../../../src/ports/index.ts";
import type { CarrierCall } from "../carrier/script.ts";
import type { Dice } from "../simulated/dice.ts";
import type { VirtualClock } from "../simulated/virtual-clock.ts";
import type { EngineRun, ProcessRun } from "./engine-run.ts";
import type { Fault } from "./faults.ts";
import type { LogLine, WorldObserver } from "./observer.ts";
import type { Call } from "./ports/port-calls.ts";
import type { SharedStorage } from "./ports/shared-storage.ts";
import type { Story } from "./story.ts";

/** What an engine can be cut off from. `internet`: the receivers of webhooks, and the model. */
export type Remote = "storage" | "carrier" | "internet";

/** The parts of a world that the ports of an engine use. */
export interface WorldContext {
  readonly clock: VirtualClock;
  readonly dice: Dice;
  readonly story: Story;
  readonly storage: SharedStorage;
  readonly observe: WorldObserver;
  /** How many turns of the event loop may delay a storage call at most. */
  readonly maxYields: number;
  /** The ids of the engine locks that are held, as the storage sees it. */
  readonly heldLocks: Set<string>;
  /** The calls that reached the scripted carriers, in order. */
  readonly calls: CarrierCall[];
  /** What the engines logged. */
  readonly log: LogLine[];
  /** The runs of engines that watch the storage. */
  readonly watchers: Set<EngineRun>;
  /** Resolves when an engine that was cut off is connected again. */
  healed(): Promise<void>;
}

/** One run of an engine, as its ports see it. */
export interface RunContext {
  readonly world: WorldContext;
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

/**
 * Returns the world that a scripted carrier, receiver or model joins.
 * @throws Error when it is part of another one
 */
export function joinWorld(
  what: string,
  known: WorldContext | undefined,
  joined: WorldContext,
): WorldContext {
  if (known === undefined || known === joined) return joined;
  throw new Error(`This scripted ${what} is part of another world. Make one for each world.`);
}
