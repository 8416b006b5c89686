/**
 * Another process on the same file: `open <file> <schema version>`, `count <file> <times>`, or
 * `lock <file>`, which prints the id of an engine's lock and keeps it.
 */
import { once } from "node:events";
import { sqlite } from "../../../../adapters/storage/sqlite/index.ts";
import { seededRandom } from "../../../../adapters/testing/simulated/seeded-random.ts";
import { virtualClock } from "../../../../adapters/testing/simulated/virtual-clock.ts";
import { silent } from "../../../../src/ports/logger.ts";
import { Store } from "../../../../src/store/store.ts";
import { firstNotes, firstSchema, noteById, secondSchema } from "../notes.ts";

const [part, file = "", number = ""] = process.argv.slice(2);
process.stdout.write("ready\n");
await once(process.stdin, "data");
try {
  if (part === "open") await open();
  else if (part === "lock") await lock();
  else await count();
  process.stdout.write("done\n");
} catch (error) {
  process.stdout.write(`${String(error)}\n`);
}
process.exit();

async function open(): Promise<void> {
  const port = sqlite({ file });
  await port.open(number === "1" ? firstSchema : secondSchema);
  await port.close();
}

async function lock(): Promise<void> {
  const port = sqlite({ file });
  await port.open(firstSchema);
  const taken = await port.engineLocks?.take();
  process.stdout.write(`${String(taken?.id)}\n`);
  // Until the process is killed.
  await once(process.stdin, "data");
}

/** Adds one to a shared row the given number of times, and inserts a row each time. */
async function count(): Promise<void> {
  const store = new Store({
    port: sqlite({ file }),
    schema: firstSchema,
    clock: virtualClock(),
    random: seededRandom(1),
    logger: silent,
  });
  await store.open();
  for (let i = 0; i < Number(number);) {
    const added = await store
      .commitUnscoped(async (tx) => {
        const row = await tx.get(noteById, ["shared"]);
        if (row === undefined) tx.insert(firstNotes, { id: "shared", text: "", count: 1 });
        else tx.update(firstNotes, row, { count: row.count + 1 });
        tx.insert(firstNotes, { id: `${process.pid}-${i}`, text: "", count: 0 });
        return 1;
      })
      .catch((error: unknown) => {
        if (error instanceof Error && "retryable" in error && error.retryable === true) return 0;
        throw error;
      });
    i += added;
  }
  await store.close();
}
