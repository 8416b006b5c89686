import {
  faultNames,
  type EngineRun,
  type Fault,
  type MetFault,
} from "../../adapters/testing/index.ts";
import type { Write } from "../../src/ports/storage.ts";
import {
  allCells,
  faultsOf,
  operationNames,
  placesOf,
  type AnyFault,
  type Cell,
} from "./met-faults/places.ts";
import { calleesRecordedIn } from "./recorded-calls.ts";
import type { World } from "./world.ts";

/** How likely a history aims at operations, at each of them, and at each call of these. */
const chances = { history: 0.6, operation: 0.6, call: 0.8 } as const;
/** How many calls to the storage an operation may have made when a read of it fails. */
const maxReads = 3;
/** How many faults are aimed at rows of the storage at once. */
const maxRows = 8;
/** How many faults are aimed at calls that are recorded, at once. */
const maxCalls = 3;
/** How many turns of the event loop a call may have taken when its process fails. */
const maxTurns = 3;

/**
 * Faults that a history aims at some operations of the API, at reads and commits of some rows, and
 * at the moment between the record of a call and the call.
 * The other faults are drawn at each call to the outside, or at any time. They hardly ever meet an
 * operation that takes no time and that few ask for, or rows that are rarely written.
 */
export class AimedFaults {
  readonly #world: World;
  readonly #isAimed: boolean;
  /** The operations. */
  readonly #targets: ReadonlySet<string>;
  /** How many of the next recorded calls find their engine told to stop. */
  #stopsAtCalls = 0;

  constructor(world: World) {
    const { dice } = world;
    this.#world = world;
    this.#isAimed = dice.chance(chances.history);
    this.#targets = new Set(
      this.#isAimed ? operationNames.filter(() => dice.chance(chances.operation)) : [],
    );
  }

  /** Call when an engine begins an operation. */
  onOperation(name: string, run: EngineRun): void {
    const { dice, faultsStopped } = this.#world;
    if (faultsStopped || !this.#targets.has(name) || !dice.chance(chances.call)) return;
    const faults = faultsOf(name);
    const ofPorts = faultNames.filter((fault) => faults.includes(fault));
    const ofProcess = processFaults.filter(({ fault }) => faults.includes(fault));
    // These can happen to each of several reads and to the commit, so they are drawn more often.
    const ofAnyCall = ofPorts.filter((fault) => placesOf[fault].includes("read"));
    const chosen = dice.pick<Fault | ProcessFault>([...ofPorts, ...ofAnyCall, ...ofProcess]);
    if (typeof chosen === "string") {
      // An operation reads several times before it commits.
      const after = placesOf[chosen].includes("read") ? dice.between(0, maxReads) : 0;
      this.#world.engines.inject(chosen, { engine: run.name, after });
    }
    if (typeof chosen === "object") void this.#fail(chosen, run);
  }

  /** Aims faults at the next reads and commits of some rows. */
  aimAtRows(): void {
    if (!this.#isAimed) return;
    const { dice, engines } = this.#world;
    for (let left = dice.between(1, maxRows); left > 0; left--) {
      const cell = dice.pick(cellsOfStorage);
      const fault = faultNames.find((name) => name === cell?.fault);
      if (cell === undefined || fault === undefined) continue;
      engines.inject(fault, { where: (met) => isAt(met, cell) });
    }
  }

  /** Aims faults at the next commits that record a call of the carrier or of an action. */
  aimAtCalls(): void {
    if (!this.#isAimed) return;
    const { dice, engines } = this.#world;
    for (let left = dice.between(1, maxCalls); left > 0; left--) {
      const cell = dice.pick(cellsOfCalls);
      const fault = faultNames.find((name) => name === cell?.fault);
      if (cell?.fault === "deployment") this.#stopsAtCalls++;
      else if (cell !== undefined && fault !== undefined) {
        engines.inject(fault, { where: (met) => isAt(met, cell) });
      }
    }
  }

  /** Call when an engine commits. */
  onCommit(run: EngineRun, writes: readonly Write[]): void {
    if (this.#stopsAtCalls === 0 || this.#world.faultsStopped) return;
    const [callee] = calleesRecordedIn(writes);
    if (callee === undefined) return;
    this.#stopsAtCalls--;
    this.#world.coverage.count("call", callee, "deployment");
    // It waits for no work, so the call must not be made.
    const cause: ProcessFault["cause"] = (world, name) => world.deploy(name, 0);
    void this.#fail({ fault: "deployment", cause }, run);
  }

  /** Makes the process of an engine fail within the next turns of the event loop. */
  async #fail({ cause }: ProcessFault, { name }: EngineRun): Promise<void> {
    const { engines, dice, clock } = this.#world;
    for (let left = dice.between(0, maxTurns); left > 0; left--) await clock.sleep(0);
    if (engines.up.includes(name)) await cause(this.#world, name);
  }
}

interface ProcessFault {
  readonly fault: AnyFault;
  readonly cause: (world: World, engine: string) => void | Promise<void>;
}

const processFaults: readonly ProcessFault[] = [
  { fault: "crash", cause: (world, name) => world.crash(name, "during an operation") },
  { fault: "deployment", cause: (world, name) => world.deploy(name) },
  { fault: "cutOffStorage", cause: (world, name) => world.cutOff(name, "storage") },
  { fault: "cutOffCarrier", cause: (world, name) => world.cutOff(name, "carrier") },
  { fault: "cutOffInternet", cause: (world, name) => world.cutOff(name, "internet") },
];

const cellsOfStorage = allCells().filter(
  ({ place, never }) => ["commit", "read", "job"].includes(place) && never === undefined,
);

const cellsOfCalls = allCells().filter(
  ({ place, fault }) =>
    place === "call" && ["commitStalls", "commitFailsAfter", "deployment"].includes(fault),
);

/** Whether a fault would happen to a call that reads or writes such rows. */
function isAt({ call, collections, writes }: MetFault, { place, row }: Cell): boolean {
  if (place === "call") return calleesRecordedIn(writes).some((callee) => callee === row);
  if (place !== "job") return call === place && collections.includes(row);
  return writes.some(
    (write) => write.collection.name === "jobs" && "row" in write && write.row["kind"] === row,
  );
}
