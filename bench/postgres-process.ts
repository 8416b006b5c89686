/**
 * One of several processes with an engine on one database: gets ready, and when it is told to, sends. It tells its parent of what was
 * accepted, or delivered where that is what is asked for.
 */
import pg from "pg";
import { postgres } from "../adapters/storage/postgres/index.ts";
import { send, withEngineOn } from "./engines.ts";
import { concurrently } from "./measure.ts";
import { busy, poolSize } from "./postgres-databases.ts";
import type { Kind } from "./postgres-processes.ts";

export interface Order {
  readonly kind: Kind;
  /** Which of the processes it is, from 0. */
  readonly place: number;
  readonly items: number;
  readonly url: string;
}

/** How many more there are. */
export type Report = "ready" | number;

const warmUp = 500;

const { kind, place, items, url } = JSON.parse(process.argv[2] ?? "") as Order;
const tell = (report: Report): void => void process.send?.(report);
const told = (signal: "message" | "disconnect"): Promise<void> =>
  new Promise((resolve) => void process.once(signal, () => resolve()));
const over = told("disconnect");

const pool = new pg.Pool({ connectionString: url, max: poolSize });
await withEngineOn(
  postgres({ pool }),
  async (engine) => {
    // Recipients of its own.
    const first = place * 1_000_000;
    if (kind === "accepted to delivered") {
      let more = 0;
      engine.on("message.sent", () => {
        if (more++ > 0) return;
        setImmediate(() => {
          tell(more);
          more = 0;
        });
      });
      await engine.start();
    } else {
      await concurrently(warmUp, 256, (i) => send(engine, "new", first + 500_000 + i));
    }
    const go = told("message");
    tell("ready");
    await go;
    await concurrently(items, 256, (i) => send(engine, "new", first + i));
    if (kind !== "accepted to delivered") tell(items);
    await over;
  },
  busy,
);
await pool.end();
