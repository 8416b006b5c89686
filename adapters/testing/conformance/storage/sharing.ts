import { setTimeout as sleep } from "node:timers/promises";
import {
  StorageConflict,
  type Admission,
  type AdmissionRequest,
  type EngineLocks,
  type Write,
} from "../../../../src/ports/index.ts";
import { failsAs, holds, same } from "../checks.ts";
import { item, itemById, itemsByTime, schema } from "./collections.ts";
import {
  allIds,
  ids,
  insertNew,
  portWith,
  update,
  write,
  type OpenPorts,
  type StorageChecks,
} from "./fixture.ts";
import { hostTransactionChecks } from "./host-transactions.ts";

const close = (id: string, version = 1): Write =>
  update(id, version, item(id, { state: "closed" }), "state");

async function locksOf(ports: OpenPorts): Promise<EngineLocks | undefined> {
  return (await ports.port()).engineLocks;
}

/** An engine that is not notified polls after this time. */
const pollsAfterMs = 5_000;

/** Waits until an engine that is notified has noticed something, and returns whether it has. */
async function comes(isThere: () => boolean): Promise<boolean> {
  for (let ms = 0; !isThere() && ms < pollsAfterMs; ms += 10) await sleep(10);
  return isThere();
}

/** Locked rows and exclusive groups. */
const groupChecks: StorageChecks = {
  "locked rows can be written only by the group that locked them, until it ends": async (ports) => {
    const port = await ports.port();
    const other = await ports.port();
    await write(port, insertNew("a"), insertNew("b"), insertNew("c"));
    const lock = { index: itemsByTime, key: ["anna"], limit: 2, lock: true };
    const group = port.begin();
    const [locked = []] = await group.read([lock]);
    same(
      locked.map(({ id }) => id),
      ["a", "b"],
      "rows locked",
    );
    // A synchronous storage has a single writer. It may ignore locks, or let a group wait until
    // another one ends.
    if (!port.capabilities.synchronous) {
      const rival = other.begin();
      const [free = []] = await rival.read([{ ...lock, limit: 3 }]);
      await rival.abort();
      same(ids(free), ["c"], "rows that another group can lock meanwhile");
    }
    await group.commit([close("a"), close("b")]);
    const next = other.begin();
    const [[again] = []] = await next.read([{ index: itemById, key: ["a"], limit: 1, lock: true }]);
    same(again?.["state"], "closed", "the row as the first group left it");
    await next.abort();
    const last = port.begin();
    same((await last.read([lock]))[0]?.length, 2, "rows locked after an abort");
    await last.abort();
  },

  "a look-up beside a lock sees what was committed before the lock was taken": async (ports) => {
    const port = await ports.port();
    const other = await ports.port();
    await write(port, insertNew("a"), insertNew("b"));
    const commits = 50;
    let isOver = false;
    const writing = (async (): Promise<void> => {
      for (let version = 1; version <= commits; version++) {
        await write(port, close("a", version), close("b", version));
      }
    })().finally(() => (isOver = true));
    const lookups = [
      { index: itemById, key: ["b"], limit: 1 },
      { index: itemById, key: ["a"], limit: 1, lock: true },
    ];
    while (!isOver) {
      const group = other.begin();
      const [[beside] = [], [locked] = []] = await group.read(lookups);
      await group.abort();
      // Without a row, another group held the lock.
      const [seen, least] = [Number(beside?.["version"]), Number(locked?.["version"] ?? 0)];
      holds(seen >= least, `version ${least} or later`, seen);
      await port.yieldToEventLoop();
    }
    await writing;
  },

  "an exclusive group commits although others write meanwhile": async (ports) => {
    const port = await ports.port();
    const { shared, durable } = port.capabilities;
    // A storage within one process runs its groups one after the other.
    if (!shared || !durable) return;
    const other = await ports.port();
    await write(port, insertNew("a"));
    const group = port.begin("exclusive");
    await group.read([{ index: itemById, key: ["a"], limit: 1 }]);
    const late = "a commit of the same row that waits until the exclusive group has ended";
    const rival = failsAs(StorageConflict, () => write(other, close("a")), late);
    for (let i = 0; i < 20; i++) await port.yieldToEventLoop();
    await group.commit([close("a")]);
    await rival;
    // When the exclusive group has ended, others can write again.
    await write(other, insertNew("b"));
    const aborted = port.begin("exclusive");
    await aborted.read([{ index: itemById, key: ["a"], limit: 1 }]);
    await aborted.abort();
    await write(other, insertNew("c"));
    same(await allIds(port), ["a", "b", "c"], "rows");
  },
};

/** What engines on one storage learn of each other. Optional methods are tested when present. */
const engineChecks: StorageChecks = {
  "a commit notifies the other engines, those on the same connection too": async (ports) => {
    const port = await ports.port();
    const other = await ports.port();
    if (port.watch === undefined || other.watch === undefined) return;
    // A second engine shares the first one's connection, and may be the one that commits.
    await port.open(schema);
    const heard = [0, 0, 0];
    const stops = [port, port, other].map((each, i) =>
      each.watch?.(() => void (heard[i] = (heard[i] ?? 0) + 1)),
    );
    try {
      // The first notification may be about earlier commits, so there are three rounds.
      for (const id of ["a", "b", "c"]) {
        heard.fill(0);
        await write(port, insertNew(id));
        const areNotified = await comes(() => !heard.includes(0));
        holds(areNotified, "that every engine is notified before it polls", heard);
      }
      stops[1]?.();
      heard.fill(0);
      await write(port, insertNew("d"));
      await comes(() => ![heard[0], heard[2]].includes(0));
      same(heard[1], 0, "notifications of an engine that has unsubscribed");
    } finally {
      for (const stop of stops) stop?.();
      await port.close();
    }
  },

  "signals reach every other engine in their order, and are not stored": async (ports) => {
    const port = await portWith(ports, "signals");
    const other = await portWith(ports, "signals");
    if (port === undefined || other === undefined) return;
    const heard: string[][] = [[], [], []];
    const lines = [port, port, other].map((each, i) =>
      each.signals((text) => void heard[i]?.push(text)),
    );
    const [first, , third] = lines;
    // A connection that is being made misses what is sent meanwhile.
    let round = 0;
    const areConnected = await comes(() => {
      first?.send(`begin ${round++}`);
      return heard.every((texts, i) => i === 0 || texts.length > 0);
    });
    holds(areConnected, "a signal that reaches both other engines within 5 s", heard);
    const hasAll = async (i: number, last: string): Promise<void> => {
      const isLast = await comes(() => heard[i]?.at(-1) === last);
      holds(isLast, `the signal "${last}" at engine ${i + 1} within 5 s`, heard[i]);
    };
    await hasAll(2, heard[1]?.at(-1) ?? "");
    same(heard[0], [], "what the sender hears of itself");
    for (const texts of heard) texts.length = 0;
    const long = "\u{1F600}".repeat(1_000);
    const texts = ["", "two\nlines", '"quoted" \\ ', long, "last"];
    for (const text of texts) first?.send(text);
    await Promise.all([hasAll(1, "last"), hasAll(2, "last")]);
    third?.send("back");
    await Promise.all([hasAll(0, "back"), hasAll(1, "back")]);
    same(heard, [["back"], [...texts, "back"], texts], "what each engine heard");
    lines[1]?.leave();
    third?.send("later");
    await hasAll(0, "later");
    same(heard[1]?.at(-1), "back", "what an engine heard last that has left");
    for (const line of lines) line.leave();
  },

  "the limit of admitted requests applies to all connections together": async (ports) => {
    const port = await portWith(ports, "admit");
    const other = await portWith(ports, "admit");
    if (port === undefined || other === undefined) return;
    const request = (key: string, limit: number): AdmissionRequest => ({
      key,
      limit,
      window: 600_000,
    });
    const asked = Array.from({ length: 30 }, (_, i) =>
      (i % 2 === 0 ? port : other).admit([request("a", 12)]),
    );
    const answers = (await Promise.all(asked)).flat();
    same(answers.filter(({ admitted }) => admitted).length, 12, "admitted of 30");
    const remaining = answers.filter(({ admitted }) => admitted).map((each) => each.remaining);
    same(
      remaining.toSorted((x, y) => y - x),
      [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0],
      "remaining after each",
    );
    for (const answer of answers) {
      holds(
        answer.limit === 12 && answer.reset_ms > 0 && answer.reset_ms <= 600_000,
        "the limit 12, and a reset within 600,000 ms",
        answer,
      );
      const waits = answer.remaining === 0;
      holds(
        waits ? answer.retry_after_ms > 0 : answer.retry_after_ms === 0,
        waits ? "a wait, because nothing remains" : "no wait, because requests remain",
        answer,
      );
    }
    const mixed = await other.admit([
      request("a", 12),
      request("b", 1),
      request("b", 1),
      request("a", 13),
    ]);
    same(
      mixed.map(({ admitted }) => admitted),
      [false, true, false, true],
      "requests of several keys, and under another limit",
    );
  },

  "a request is admitted again when earlier ones have left the window": async (ports) => {
    const port = await portWith(ports, "admit");
    if (port === undefined) return;
    const window = 300;
    const ask = (): Promise<readonly Admission[]> => port.admit([{ key: "a", limit: 2, window }]);
    await ask();
    await ask();
    let refused = 0;
    for (let ms = 0; ; ms += 10) {
      const [answer] = await ask();
      if (answer?.admitted === true) break;
      refused++;
      const wait = answer?.retry_after_ms ?? 0;
      holds(wait > 0 && wait <= window, `a wait of at most the window, ${window} ms`, wait);
      // Refused requests do not count.
      holds(ms < 10 * window, "an admitted request after the window", `${refused} refusals`);
      await sleep(10);
    }
  },

  "a lock of an engine is held until it is released, and every connection sees that": async (
    ports,
  ) => {
    const [locks, others] = [await locksOf(ports), await locksOf(ports)];
    if (locks === undefined || others === undefined) return;
    holds(Number.isFinite(locks.graceMs) && locks.graceMs >= 0, "a grace period", locks.graceMs);
    const [a, b, c] = [await locks.take(), await locks.take(), await others.take()];
    if (a === undefined || b === undefined || c === undefined) return;
    same(new Set([a.id, b.id, c.id]).size, 3, "different ids");
    same(
      [a, b, c].map((lock) => lock.isHeld()),
      [true, true, true],
      "held",
    );
    same(await others.findFree([a.id, b.id, c.id]), [], "free locks while all are held");
    await a.release();
    await a.release();
    same([a.isHeld(), b.isHeld()], [false, true], "held after one is released");
    const all = [a.id, b.id, c.id];
    const found = await Promise.all([locks.findFree(all), others.findFree(all)]);
    same(found, [[a.id], [a.id]], "the released lock, as both connections see it");
    const again = await locks.take();
    holds(again !== undefined && !all.includes(again.id), "a new id", again?.id);
  },

  "a connection that closes releases its engines' locks": async (ports) => {
    const port = await ports.port();
    const locks = await locksOf(ports);
    const lock = await port.engineLocks?.take();
    if (locks === undefined || lock === undefined || !port.capabilities.durable) return;
    same(await locks.findFree([lock.id]), [], "free locks before");
    await port.close();
    same(lock.isHeld(), false, "held after the close");
    same(await locks.findFree([lock.id]), [lock.id], "free locks after");
  },
};

/** What the storage guarantees between processes. */
export const sharingChecks: StorageChecks = {
  ...groupChecks,
  ...hostTransactionChecks,
  ...engineChecks,
};
