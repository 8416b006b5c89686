/** Storages with a host application's table that handlers write to. */
import { setTimeout as sleep } from "node:timers/promises";
import { memory } from "../../../adapters/storage/memory/index.ts";
import type { VirtualClock } from "../../../adapters/testing/index.ts";
import type { StoragePort } from "../../../src/ports/storage.ts";
import { hosts, note } from "../../adapters/transactions/hosts.ts";
import { cases } from "../../support/runs.ts";
import type { StorageCase } from "../../support/storage/storages.ts";

export interface Place {
  connect(): StoragePort;
  /** Writes to the host table, through the handler's transaction if there is one. */
  note(tx: object | undefined, text: string): Promise<void>;
  notes(): Promise<string[]>;
  /** Removes everything. Runs automatically at the end of the test. */
  end(): Promise<void>;
}

export interface PlaceCase {
  readonly name: StorageCase["name"];
  /** Whether a handler's writes commit together with the consumer's progress. */
  readonly isExact: boolean;
  readonly open: () => Promise<Place>;
}

export const places: readonly PlaceCase[] = [
  {
    name: "memory",
    isExact: false,
    async open() {
      const storage = memory();
      const notes: string[] = [];
      return {
        connect: () => storage,
        note: async (_tx, text) => void notes.push(text),
        notes: async () => [...notes],
        end: async () => {},
      };
    },
  },
  ...hosts.map(({ name, open }) => ({
    name,
    isExact: true,
    async open() {
      const host = await open();
      return {
        connect: () => host.connect(),
        note: (tx: object | undefined, text: string) => host.run(tx ?? {}, note(text)),
        notes: () => host.notes(),
        end: () => host.end(),
      };
    },
  })),
];

/** The places for a behavior that does not depend on the storage. See `lightStorages`. */
export const lightPlaces = cases(places, ({ name }) => name !== "PostgreSQL");

/**
 * Advances virtual time in steps of a second until `holds`. Each step also waits for locks and
 * sockets, which take real time.
 */
export async function eventually(
  clock: VirtualClock,
  holds: () => boolean | Promise<boolean>,
  stepMs = 1_000,
  steps = 2_000,
): Promise<void> {
  for (let step = 0; step < steps; step++) {
    await clock.settle();
    if (await holds()) return;
    await sleep(1);
    await clock.advance(stepMs);
  }
  throw new Error(`what was waited for did not come about in ${steps} steps of ${stepMs} ms`);
}

/** The same for days: the clock jumps by hours, and sleepers notice on their next poll. */
export function later(clock: VirtualClock, holds: () => boolean | Promise<boolean>): Promise<void> {
  return eventually(
    clock,
    async () => {
      if (await holds()) return true;
      clock.step(3_600_000);
      return false;
    },
    6_000,
  );
}
