import { describe, expect, it } from "vitest";
import type { MessagingEngine } from "../../src/engine.ts";
import type { EngineOptions } from "../../src/host/options/options.ts";
import { TidingsError } from "../../src/kernel/errors.ts";
import { schema } from "../../src/modules.ts";
import type { EngineLock } from "../../src/ports/engine-locks.ts";
import type { HttpClient, HttpOutcome } from "../../src/ports/http-client.ts";
import type { StoragePort, Write } from "../../src/ports/storage.ts";
import type { SendAnswer } from "../../src/ports/transport.ts";
import { engineById, engines } from "../../src/queue/engine-register.ts";
import type { JobKind } from "../../src/queue/jobs/job-kinds.ts";
import { jobByName, jobs, type JobRow } from "../../src/queue/jobs/rows.ts";
import { accepted, busy, carrier, held, providerId } from "../support/engines/carrier.ts";
import { stopped, world } from "../support/engines/world.ts";
import { eventually } from "../support/eventually.ts";
import { over } from "../support/over.ts";
import { cases } from "../support/runs.ts";
import { withGroups } from "../support/storage/groups.ts";
import { lightStorages, storages } from "../support/storage/storages.ts";

/** Within this time work has to continue: far less than the minute of a lease. */
const soonMs = 3_000;

/** The storage of an engine that a test can crash. */
interface Mortal {
  readonly storage: StoragePort;
  /** From now on the storage cannot be reached. Resolves when the engine's lock is free. */
  crash(): Promise<void>;
  /** Resolves after the first crash. */
  readonly crashed: Promise<void>;
  /** Frees the engine's lock, although the engine lives. */
  loseLock(): Promise<void>;
}

/** `crashesAfter` crashes the engine right after such a commit. */
function mortal(
  storage: StoragePort,
  crashesAfter?: (writes: readonly Write[]) => boolean,
): Mortal {
  let isCrashed = false;
  let lock: EngineLock | undefined;
  const gone = (): never => {
    throw new TidingsError("storage_unavailable", "The process has crashed.");
  };
  const crashed = Promise.withResolvers<void>();
  const crash = async (): Promise<void> => {
    isCrashed = true;
    await lock?.release();
    crashed.resolve();
  };
  const { engineLocks } = storage;
  if (engineLocks === undefined) throw new Error("the storage has no locks of engines");
  const groups = withGroups(storage, {
    read: (lookups, group) => (isCrashed ? gone() : group.read(lookups)),
    async commit(writes, group) {
      if (isCrashed) gone();
      await group.commit(writes);
      if (crashesAfter?.(writes) !== true) return;
      await crash();
      gone();
    },
  });
  return {
    crash,
    crashed: crashed.promise,
    loseLock: async () => lock?.release(),
    storage: over(groups, {
      engineLocks: {
        graceMs: engineLocks.graceMs,
        take: async () => (lock = await engineLocks.take()),
        findFree: async (ids) => (isCrashed ? gone() : engineLocks.findFree(ids)),
      },
      reader: {
        get: async (lookups) => (isCrashed ? gone() : storage.reader.get(lookups)),
        range: async (range) => (isCrashed ? gone() : storage.reader.range(range)),
        search: async (searches) => (isCrashed ? gone() : storage.reader.search(searches)),
      },
    }),
  };
}

/** The storage of a process that cannot take a lock. */
function withoutLocks(storage: StoragePort): StoragePort {
  const engineLocks = { graceMs: 0, take: async () => undefined, findFree: async () => [] };
  return over(storage, { engineLocks });
}

const answered: HttpOutcome = {
  outcome: "answered",
  status: 200,
  headers: {},
  body: Buffer.alloc(0),
  truncated: false,
  address: "192.0.2.1",
};

/** A client whose requests the test answers, and the ids of the events that it sent. */
function httpClient(answer: () => Promise<HttpOutcome> = async () => answered): {
  readonly client: HttpClient;
  readonly sent: string[];
} {
  const sent: string[] = [];
  return {
    sent,
    client: {
      send(request) {
        sent.push(request.headers["webhook-id"] ?? "");
        return answer();
      },
      close() {},
    },
  };
}

async function jobsOf(storage: StoragePort, kind: JobKind): Promise<readonly JobRow[]> {
  const range = { index: jobByName, prefix: [kind], order: "ascending", limit: 100 } as const;
  return (await storage.reader.range(range)) as unknown as readonly JobRow[];
}

async function enginesOf(storage: StoragePort): Promise<readonly string[]> {
  const range = { index: engineById, prefix: [], order: "ascending", limit: 100 } as const;
  return (await storage.reader.range(range)).map(({ id }) => String(id));
}

async function remove(storage: StoragePort, engine: string): Promise<void> {
  const [[row] = []] = await storage.reader.get([{ index: engineById, key: [engine], limit: 1 }]);
  const version = Number(row?.["version"]);
  await storage.begin().commit([{ kind: "remove", collection: engines, key: [engine], version }]);
}

function leases(kind: JobKind): (writes: readonly Write[]) => boolean {
  return (writes) =>
    writes.some((write) => {
      if (write.collection !== jobs || write.kind === "remove" || !("row" in write)) return false;
      return write.row["kind"] === kind && write.row["leased"] === true;
    });
}

/** Gives an engine work of many kinds. */
async function giveWork(engine: MessagingEngine): Promise<void> {
  const webhooks = await Promise.all(
    ["a", "b"].map((name) =>
      engine.webhooks.create({ url: `https://example.com/${name}`, events: ["*"] }),
    ),
  );
  await engine.agents.create({ name: "Ada", channels: ["sms"] });
  await engine.messages.send({ to: "+15005550009", body: "Hello" });
  await engine.sandbox.inbound({ from: "+15005550101", body: "Hi" });
  await engine.webhooks.remove(webhooks[0]?.id ?? "");
}

const kinds = ["send", "deliver", "discard", "turn", "consume", "score"] as const;
const hello = { to: "+15005550001", body: "Hello" };

describe.each(lightStorages)("the work of a crashed engine on $name", ({ open }) => {
  const kindsHere = cases(kinds, (kind) => ["send", "deliver", "turn"].includes(kind));

  it.each(kindsHere)("continues at the next start after a crash in a job: %s", async (kind) => {
    const { clock, engine } = world();
    const ground = open();
    const options: Partial<EngineOptions> = {
      http: { client: httpClient().client },
      agents: { model: () => ({ text: "Hello" }) },
      sentiment: { score: async () => 0.5 },
    };
    const first = mortal(ground.connect(), leases(kind));
    const one = engine(first.storage, options);
    one.consume("orders", ["message.received"], async () => {});
    await one.start();
    await giveWork(one).catch(() => {});
    await clock.advance(1_000);
    await first.crashed;

    const storage = ground.connect();
    const two = engine(storage, options);
    two.consume("orders", ["message.received"], async () => {});
    await two.start();
    await clock.advance(soonMs);
    const ended = await jobsOf(storage, kind);
    expect(ended.filter(({ due_at, leased }) => leased || due_at <= clock.now())).toEqual([]);
  });

  it("leaves a message that was being sent ambiguous, and sends the next ones", async () => {
    const { clock, started } = world();
    const ground = open();
    const first = mortal(ground.connect());
    const one = await started(first.storage, {
      transports: [carrier({ send: () => held<SendAnswer>().promise })],
    });
    const { id } = await one.messages.send(hello);
    await clock.settle();
    await one.messages.send({ ...hello, body: "next" });
    await first.crash();
    const line = carrier({ lookup: () => ({ outcome: "unknown" }) });
    const two = await started(ground.connect(), { transports: [line] });
    await clock.advance(soonMs);
    expect(await two.messages.get(id)).toMatchObject({
      status: "ambiguous",
      error: { code: "answer_lost" },
    });
    expect(line.calls.map(({ message }) => message.body)).toEqual(["next"]);
    // The call of an engine that still lives could last until its lease would have expired.
    await clock.advance(110_000);
    expect(line.lookups).toEqual([]);
    await clock.advance(20_000);
    expect(line.lookups.length).toBeGreaterThan(0);
  });

  it.each([
    ["the carrier's Retry-After", {}, () => busy(2 * 3_600_000)],
    ["its sender's throttle", { daily_cap: 1 }, accepted],
  ] as const)(
    "looks up a lost answer behind a message that waits for %s",
    async (_, limit, send) => {
      const { clock, started } = world();
      const ground = open();
      const first = mortal(ground.connect());
      const one = await started(first.storage, {
        transports: [carrier({ send: () => held<SendAnswer>().promise })],
      });
      const { data: senders } = await one.senders.list();
      const sender = senders.find(({ channels }) => channels.includes("sms"));
      await one.senders.update(sender?.id ?? "", limit);
      const send_at = new Date(clock.now() + 3_000).toISOString();
      // Released behind the code that is being sent, but before it in the conversation's order.
      const reminder = await one.messages.send({ ...hello, body: "reminder", send_at });
      const code = await one.messages.send({ ...hello, body: "code" });
      await clock.advance(5_000);
      await first.crash();
      const line = carrier({
        send: (__, attempt) => send(attempt),
        lookup: (__, attempt) => ({
          outcome: "sent",
          provider_message_id: providerId(attempt),
          receipts: [{ status: "delivered", at: clock.now() }],
        }),
      });
      const two = await started(ground.connect(), { transports: [line] });
      await clock.advance(150_000);
      const both = await Promise.all([reminder, code].map(({ id }) => two.messages.get(id)));
      expect(both.map(({ status }) => status)).toEqual(["queued", "delivered"]);
    },
  );

  it("posts deliveries that were not attempted, and those under way again", async () => {
    const { clock, started } = world();
    const ground = open();
    const hanging = httpClient(() => new Promise(() => {}));
    const first = mortal(ground.connect());
    const one = await started(first.storage, { http: { client: hanging.client } });
    await one.webhooks.create({ url: "https://example.com/", events: ["contact.created"] });
    for (let n = 0; n < 20; n++) await one.contacts.create({ phone: `+150055520${10 + n}` });
    await clock.advance(1_000);
    expect(hanging.sent.length).toBeGreaterThan(0);
    await first.crash();
    const answering = httpClient();
    await started(ground.connect(), { http: { client: answering.client } });
    await clock.advance(soonMs);
    expect(new Set(answering.sent).size).toBe(20);
    expect(answering.sent).toEqual(expect.arrayContaining(hanging.sent));
  });

  it("waits for its lease while the lock of its engine is held", async () => {
    const { clock, engine, started } = world();
    const ground = open();
    const one = engine(ground.connect(), {
      transports: [
        carrier({ send: (_, attempt) => clock.sleep(20_000).then(() => accepted(attempt)) }),
      ],
    });
    // They wait before the first hand-over, so one run hands over all of them.
    for (const body of ["1", "2", "3"]) await one.messages.send({ ...hello, body });
    await one.start();
    await clock.settle();
    const line = carrier();
    await started(ground.connect(), { transports: [line] });
    await clock.advance(70_000);
    expect(line.calls).toEqual([]);
    const { data } = await one.messages.list();
    expect(data.map(({ status }) => status)).toEqual(["sent", "sent", "sent"]);
  });

  it("waits for its lease where an engine cannot take a lock", async () => {
    const { clock, started } = world();
    const ground = open();
    const first = mortal(ground.connect());
    const one = await started(withoutLocks(first.storage), {
      transports: [carrier({ send: () => held<SendAnswer>().promise })],
    });
    const { id } = await one.messages.send(hello);
    await clock.settle();
    await first.crash();
    const two = await started(ground.connect());
    await clock.advance(55_000);
    expect((await two.messages.get(id)).status).toBe("sending");
    await clock.advance(15_000);
    expect((await two.messages.get(id)).status).toBe("ambiguous");
  });

  it("continues elsewhere after a stop that aborted it", async () => {
    const { clock, started } = world();
    const ground = open();
    const one = await started(ground.connect(), {
      transports: [carrier({ send: () => held<SendAnswer>().promise })],
    });
    const { id } = await one.messages.send(hello);
    await clock.settle();
    const two = await started(ground.connect());
    await stopped(one, clock);
    await clock.advance(8_000);
    expect((await two.messages.get(id)).status).toBe("ambiguous");
  });
});

describe.each(storages)("an engine on $name that lost its lock, but lives", ({ open }) => {
  it("loses its leases, sends nothing under them, and its answers still count", async () => {
    const { clock, started } = world();
    const ground = open();
    const first = mortal(ground.connect());
    const answer = held<SendAnswer>();
    const line = carrier({
      send: ({ body }, attempt) => (body === "Hello" ? answer.promise : accepted(attempt)),
    });
    const other = carrier({
      send: (_, attempt) => clock.sleep(10_000).then(() => accepted(attempt)),
    });
    const one = await started(first.storage, { transports: [line] });
    const { id } = await one.messages.send(hello);
    await clock.settle();
    await first.loseLock();
    const two = await started(ground.connect(), { transports: [other] });
    await clock.advance(soonMs);
    expect((await two.messages.get(id)).status).toBe("ambiguous");
    for (const body of ["second", "third"]) await two.messages.send({ ...hello, body });
    await clock.advance(1_000);
    // Two now sends the second message under its own lease.
    const attempt = line.attempt();
    answer.answer(accepted(attempt));
    await clock.advance(5_000);
    const bodiesOf = ({ calls }: typeof line) => calls.map(({ message }) => message.body);
    expect(bodiesOf(line)).toEqual(["Hello"]);
    expect(bodiesOf(other)).toEqual(["second"]);
    await clock.advance(25_000);
    const { data } = await two.messages.list();
    expect(data.map(({ status }) => status)).toEqual(["sent", "sent", "sent"]);
    // Either engine may lease the job for the third message.
    expect([...bodiesOf(line), ...bodiesOf(other)].toSorted()).toEqual([
      "Hello",
      "second",
      "third",
    ]);
  });

  it("leases only until the expiry while it has no lock, and is registered again with it", async () => {
    const { clock, started } = world();
    const ground = open();
    let isHeld = true;
    const port = ground.connect();
    const { engineLocks } = port;
    if (engineLocks === undefined) throw new Error("the storage has no locks of engines");
    const storage = over(port, {
      engineLocks: {
        graceMs: engineLocks.graceMs,
        take: async () => {
          const lock = await engineLocks.take();
          return lock && over(lock, { isHeld: () => isHeld });
        },
        findFree: (ids) => engineLocks.findFree(ids),
      },
    });
    const one = await started(storage, {
      transports: [carrier({ send: () => held<SendAnswer>().promise })],
    });
    const [own] = await enginesOf(port);
    const leasedBy = async (to: string) => {
      await one.messages.send({ ...hello, to });
      await clock.settle();
      const rows = await jobsOf(port, "send");
      return rows.filter(({ leased }) => leased).map(({ leased_by }) => leased_by);
    };
    expect(await leasedBy("+15005550001")).toEqual([own]);
    isHeld = false;
    expect(new Set(await leasedBy("+15005550002"))).toEqual(new Set([null, own]));
    // As another engine does that finds the lock free.
    await remove(port, own ?? "");
    await clock.advance(6_000);
    expect(await enginesOf(port)).toEqual([]);
    isHeld = true;
    await clock.advance(6_000);
    expect(await enginesOf(port)).toEqual([own]);
  });
});

describe.each(storages)("the register of engines on $name", ({ open }) => {
  it("has the engines that run, and none that crashed or stopped", async () => {
    const { clock, started } = world();
    const ground = open();
    const first = mortal(ground.connect());
    await started(first.storage);
    const two = await started(ground.connect());
    const three = await started(ground.connect());
    // An engine that stops while it has jobs stays in the register until another one looks.
    const longMs = 60_000;
    await stopped(three, clock, longMs);
    const storage = ground.connect();
    await storage.open(schema);
    expect(await enginesOf(storage)).toHaveLength(2);
    await first.crash();
    await clock.advance(12_000);
    expect(await enginesOf(storage)).toHaveLength(1);
    await stopped(two, clock, longMs);
    expect(await enginesOf(storage)).toEqual([]);
    await storage.close();
  });

  it("gets an engine that could not take its lock at the start, once it can", async () => {
    const { clock, started } = world();
    const storage = open().connect();
    const { engineLocks } = storage;
    if (engineLocks === undefined) throw new Error("the storage has no locks of engines");
    let canTake = false;
    const own = over(storage, {
      engineLocks: {
        graceMs: 0,
        take: async () => (canTake ? engineLocks.take() : undefined),
        findFree: (ids) => engineLocks.findFree(ids),
      },
    });
    await started(own);
    await clock.advance(12_000);
    expect(await enginesOf(storage)).toEqual([]);
    canTake = true;
    await clock.advance(6_000);
    // SQLite takes the lock with real reads of the directory.
    await eventually(async () => expect(await enginesOf(storage)).toHaveLength(1));
  });
});
