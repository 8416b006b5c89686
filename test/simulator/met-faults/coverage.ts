import type { MessagingEngine } from "../../../adapters/entry.ts";
import type { EngineRun, MetFault } from "../../../adapters/testing/index.ts";
import { calleesRecordedIn } from "../recorded-calls.ts";
import { canOccur, placesOf, type AnyFault, type Place } from "./places.ts";

/** How often each fault happened to each operation. A key names a place, a row and a fault. */
export type Counts = Readonly<Record<string, number>>;

export function cellName(place: Place, row: string, fault: AnyFault): string {
  return `${place}|${row}|${fault}`;
}

/** The sum of two counts. */
export function addCounts(a: Counts, b: Counts): Counts {
  const sum: Record<string, number> = { ...a };
  for (const [cell, count] of Object.entries(b)) sum[cell] = (sum[cell] ?? 0) + count;
  return sum;
}

/** An operation that a client or a visitor has asked an engine for. */
interface Request {
  readonly run: EngineRun;
  readonly operations: Set<string>;
}

/** Counts how often each fault happened to each operation in one history. */
export class Coverage {
  readonly #counts = new Map<string, number>();
  readonly #runs = new WeakMap<object, EngineRun>();
  readonly #underWay = new Set<Request>();
  readonly #onOperation: (name: string, run: EngineRun) => void;

  /** `onOperation` is called when an engine begins an operation. */
  constructor(onOperation: (name: string, run: EngineRun) => void) {
    this.#onOperation = onOperation;
  }

  get counts(): Counts {
    return Object.fromEntries(this.#counts);
  }

  /** Registers the run of a process that an engine belongs to. */
  register(engine: object, run: EngineRun): void {
    this.#runs.set(engine, run);
  }

  /** Counts a fault that happened to a call that does not go through a port of the world. */
  count(place: Place, row: string, fault: AnyFault): void {
    const cell = cellName(place, row, fault);
    this.#counts.set(cell, (this.#counts.get(cell) ?? 0) + 1);
  }

  /** Counts a fault of a port, for its call and for the operations that are under way. */
  onFault({ fault, engine, call, collections, writes }: MetFault): void {
    const [place] = placesOf[fault];
    if (call === "commit" || call === "read") {
      for (const name of collections) this.count(call, name, fault);
      for (const callee of calleesRecordedIn(writes)) this.count("call", callee, fault);
      for (const write of writes) {
        if (write.collection.name !== "jobs" || !("row" in write)) continue;
        this.count("job", String(write.row["kind"]), fault);
      }
    } else if (place !== undefined) this.count(place, call, fault);
    this.onEngineFault(engine, fault);
  }

  /**
   * Counts a fault for every operation that is under way in a process. An operation that only reads
   * has no commits, so a fault of a commit does not count for it.
   */
  onEngineFault(engine: string, fault: AnyFault): void {
    if (!placesOf[fault].includes("operation")) return;
    for (const request of this.#underWay) {
      const { run, operations } = request;
      if (!run.isAlive) this.#underWay.delete(request);
      if (!run.isAlive || run.name !== engine) continue;
      for (const name of operations) {
        if (canOccur("operation", name, fault)) this.count("operation", name, fault);
      }
    }
  }

  /** Calls an engine, and counts the faults that happen until it has answered. */
  async during<T>(
    engine: MessagingEngine,
    work: (engine: MessagingEngine) => Promise<T>,
    isImpatient: boolean,
  ): Promise<T> {
    const run = this.#runs.get(engine);
    if (run === undefined) return work(engine);
    const request = this.begin(run, []);
    const watched = watch(engine, "", (name) => {
      request.operations.add(name);
      this.#onOperation(name, run);
      if (isImpatient) this.count("operation", name, "clientImpatient");
    });
    try {
      return await work(watched);
    } finally {
      this.end(request);
    }
  }

  begin(run: EngineRun, operations: Iterable<string>): Request {
    const request = { run, operations: new Set(operations) };
    this.#underWay.add(request);
    for (const name of request.operations) this.#onOperation(name, run);
    return request;
  }

  end(request: Request): void {
    this.#underWay.delete(request);
  }
}

/** Wraps a handle. `onCall` gets the dotted name of each method before it is called. */
function watch<T extends object>(handle: T, path: string, onCall: (name: string) => void): T {
  return new Proxy(handle, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property);
      const name = `${path}${String(property)}`;
      if (typeof value === "function") {
        return (...given: unknown[]): unknown => {
          const isHandle = name === "account";
          if (!isHandle) onCall(name);
          const result: unknown = Reflect.apply(value, target, given);
          return isHandle ? watch(result as object, "account.", onCall) : result;
        };
      }
      const isGroup = typeof value === "object" && value !== null;
      return isGroup ? watch(value, `${name}.`, onCall) : value;
    },
  });
}
