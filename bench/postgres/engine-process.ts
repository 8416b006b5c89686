/**
 * One of the processes of `processes.ts`: an engine on the shared database. It sends when
 * its parent says so, and reports how many messages were accepted or delivered.
 */
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { postgres } from "../../adapters/storage/postgres/index.ts";
import type { Transport } from "../../src/ports/transport.ts";
import { countStatements } from "../cost/counters.ts";
import { dispatcherSettings, instantCarrier, send, withEngineOn } from "../support/engines.ts";
import { concurrently } from "../support/measure.ts";
import { poolSize } from "../support/postgres-databases.ts";

/**
 * What is measured. `delivered at once`: with a slot for each waiting caller, over a carrier that
 * answers at once. `delivered`: with the default number of slots, over one that takes 20 ms.
 */
export type Kind = "accepted" | "delivered at once" | "delivered";

export interface Assignment {
  readonly kind: Kind;
  /** The number of the process, from 0. */
  readonly place: number;
  readonly items: number;
  /** How many messages are sent first, to warm up. */
  readonly warmUp: number;
  readonly url: string;
}

/** `ready`, or what was done since the last report. */
export type Report = "ready" | { readonly finished: number; readonly statements: number };

const { kind, place, items, warmUp, url } = JSON.parse(process.argv[2] ?? "") as Assignment;
const report = (what: Report): void => void process.send?.(what);
const signal = (name: "message" | "disconnect"): Promise<void> =>
  new Promise((resolve) => void process.once(name, () => resolve()));
const parentGone = signal("disconnect");

let statements = 0;
countStatements(() => statements++);
function reportFinished(finished: number): void {
  report({ finished, statements });
  statements = 0;
}

/** A carrier that takes 20 ms. */
function slowCarrier(): Transport {
  const carrier = instantCarrier();
  return {
    ...carrier,
    send: async (...call) => {
      await sleep(20);
      return carrier.send(...call);
    },
  };
}

const pool = new pg.Pool({ connectionString: url, max: poolSize });
await withEngineOn(
  postgres({ pool }),
  async (engine) => {
    // Each process has its own recipients.
    const first = place * 1_000_000;
    if (kind !== "accepted") {
      let delivered = 0;
      engine.on("message.sent", () => {
        if (delivered++ > 0) return;
        setImmediate(() => {
          reportFinished(delivered);
          delivered = 0;
        });
      });
      await engine.start();
    }
    await concurrently(warmUp, 256, (i) => send(engine, "new", first + 500_000 + i));
    const go = signal("message");
    report("ready");
    await go;
    statements = 0;
    await concurrently(items, 256, (i) => send(engine, "new", first + i));
    if (kind === "accepted") reportFinished(items);
    await parentGone;
  },
  kind === "delivered" ? { transports: [slowCarrier()] } : dispatcherSettings,
);
await pool.end();
