/** Where consumers are tested: each storage with a table of the host's that handlers write to. */
import { setTimeout as sleep } from "node:timers/promises";
import { memory } from "../../../adapters/storage/memory/index.ts";
import type { StoragePort } from "../../../src/ports/storage.ts";
import type { VirtualClock } from "../../../src/testing/index.ts";
import { hosts, note } from "../../adapters/transactions/hosts.ts";

export interface Place {
  connect(): StoragePort;
  /** Writes to the host's table through the transaction that a handler got, where there is one. */
  note(tx: object | undefined, text: string): Promise<void>;
  notes(): Promise<string[]>;
  /** Removes everything; by itself when the test has finished. */
  end(): Promise<void>;
}

export interface PlaceCase {
  readonly name: string;
  /** What a handler writes commits with the consumer's progress. */
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

/**
 * Lets virtual time pass, a second at a time, until `holds`. Between connections to one database locks are waited for in real
 * time, and so is what comes over a socket: that has its chance in each step.
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

/** The same where hours have to pass: the clock is set on, and whoever waits finds that when it looks. */
export function later(clock: VirtualClock, holds: () => boolean | Promise<boolean>): Promise<void> {
  return eventually(
    clock,
    async () => {
      if (await holds()) return true;
      clock.step(600_000);
      return false;
    },
    6_000,
  );
}
