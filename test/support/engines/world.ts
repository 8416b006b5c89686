/** Engines on a virtual clock, which are stopped when the test has finished. */
import { onTestFinished } from "vitest";
import { MessagingEngine } from "../../../adapters/entry.ts";
import { simulated, type VirtualClock } from "../../../adapters/testing/index.ts";
import type { EngineOptions } from "../../../src/host/options/options.ts";
import type { StoragePort } from "../../../src/ports/storage.ts";
import { carrier } from "./carrier.ts";

export interface LogLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly facts: object;
  readonly message: string;
}

export interface World {
  readonly clock: VirtualClock;
  /** Everything that the engines logged. */
  readonly log: LogLine[];
  /** Creates an engine on the virtual clock. It is stopped at the end of the test. */
  engine<Tx extends object | undefined>(
    storage: StoragePort<Tx>,
    options?: Partial<EngineOptions<Tx>>,
  ): MessagingEngine<Tx>;
  /** Creates such an engine and starts it. */
  started<Tx extends object | undefined>(
    storage: StoragePort<Tx>,
    options?: Partial<EngineOptions<Tx>>,
  ): Promise<MessagingEngine<Tx>>;
}

export function world(): World {
  let seeds = 0;
  const { clock } = simulated();
  const log: LogLine[] = [];
  const at =
    (level: LogLine["level"]) =>
    (facts: object, message: string): void =>
      void log.push({ level, facts, message });
  const logger = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  const engine: World["engine"] = (storage, options = {}) => {
    const { random } = simulated({ seed: ++seeds });
    const made = new MessagingEngine({
      storage,
      transports: [carrier()],
      clock,
      random,
      logger,
      ...options,
    });
    onTestFinished(() => stopped(made, clock));
    return made;
  };
  return {
    clock,
    log,
    engine,
    async started(storage, options) {
      const made = engine(storage, options);
      await made.start();
      return made;
    },
  };
}

/** Stops an engine, and advances the virtual clock while the engine waits. */
export async function stopped(
  engine: MessagingEngine,
  clock: VirtualClock,
  deadlineMs = 0,
): Promise<void> {
  let over = false;
  const stop = engine.stop({ deadlineMs }).finally(() => {
    over = true;
  });
  await clock.advanceUntil(() => over).catch(() => {});
  await stop;
}

/** Stops an engine within 3 s. Returns a function that tells whether the stop is over. */
export function stopping(engine: MessagingEngine): () => boolean {
  let isOver = false;
  void engine.stop({ deadlineMs: 3_000 }).then(() => {
    isOver = true;
  });
  return () => isOver;
}
