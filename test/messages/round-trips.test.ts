/**
 * How many round trips a message takes on a storage that is a network away, and how many reads on
 * one that is not.
 */
import { expect, it } from "vitest";
import type { Lookup } from "../../src/ports/storage.ts";
import { accepted, carrier, held } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { over } from "../support/over.ts";
import { counting } from "../support/storage/counting.ts";
import { beforeCommits, withGroups } from "../support/storage/groups.ts";
import { embeddedStorages, storages } from "../support/storage/storages.ts";

const postgres = storages.find(({ name }) => name === "PostgreSQL") ?? expect.fail("no PostgreSQL");

it("a send reads once, to a new contact as in an active conversation", async () => {
  const { engine } = world();
  const { counted, counts, reset } = counting(postgres.open().connect());
  const one = engine(counted);
  const send = async (to: string, idempotencyKey: string): Promise<typeof counts> => {
    reset();
    await one.messages.send({ to, body: "Hello" }, { idempotencyKey });
    return counts;
  };
  // The first command of a process also reads the account and its settings, and finds the sender.
  await send("+15005550001", "first");
  expect(await send("+15005550002", "new")).toMatchObject({ reads: 1, commits: 1 });
  expect(await send("+15005550002", "active")).toMatchObject({ reads: 1, commits: 1 });
});

it("calls at the same time look up their account once", async () => {
  const { engine } = world();
  const storage = postgres.open().connect();
  let lookups = 0;
  const counted = over(storage, {
    reader: over(storage.reader, {
      get(wanted) {
        lookups += wanted.filter(({ index }) => index.collection.name === "accounts").length;
        return storage.reader.get(wanted);
      },
    }),
  });
  const one = engine(counted);
  const texts = Array.from({ length: 20 }, (_, i) => ({ to: "+15005550001", body: `Text ${i}` }));
  await Promise.all(texts.map((each) => one.messages.send(each)));
  expect(lookups).toBe(1);
});

it("a process that has not sent to a recipient reads one row after the other", async () => {
  const { engine } = world();
  const storage = postgres.open();
  await engine(storage.connect()).messages.send({ to: "+15005550001", body: "Hello" });
  const { counted, counts, reset } = counting(storage.connect());
  const other = engine(counted);
  const readsOfSend = async (): Promise<number> => {
    reset();
    await other.messages.send({ to: "+15005550001", body: "Hello" });
    return counts.reads;
  };
  expect(await readsOfSend()).toBeGreaterThan(1);
  expect(await readsOfSend()).toBe(1);
});

it("a send reads once if the recipients of two senders alternate", async () => {
  const { engine } = world();
  const { counted, counts, reset } = counting(postgres.open().connect());
  const one = engine(counted);
  const senders = ["+15550000001", "+15550000002"];
  for (const address of senders) {
    await one.senders.create({ address, channels: ["sms"], transport: "sandbox" });
  }
  const recipients = ["+15005550001", "+15005550002"];
  for (const [i, to] of recipients.entries()) {
    await one.messages.send({ to, body: "Hello", from: senders[i] ?? "" });
  }
  for (const to of [...recipients, ...recipients]) {
    reset();
    await one.messages.send({ to, body: "Hello" });
    expect(counts.reads).toBe(1);
  }
});

it("a send finds the sender and the conversation that another process has replaced", async () => {
  const { engine } = world();
  const storage = postgres.open();
  const one = engine(storage.connect());
  const other = engine(storage.connect());
  const to = "+15005550001";
  const before = await one.messages.send({ to, body: "Remembered" });
  await other.conversations.update(before.conversation_id, { status: "closed" });
  await other.senders.create({ address: "+15005550009", channels: ["sms"], transport: "sandbox" });
  const { conversation_id } = await other.messages.send({ to, from: "+15005550009", body: "New" });

  const after = await one.messages.send({ to, body: "Which conversation?" });
  expect(after).toMatchObject({ conversation_id, from: "+15005550009" });
  expect(conversation_id).not.toBe(before.conversation_id);
});

it("a command that reads nothing takes the commit alone", async () => {
  const { engine } = world();
  const { counted, counts, reset } = counting(postgres.open().connect());
  const one = engine(counted);
  const create = () => one.apiKeys.create({ name: "Shop", scopes: ["messages:read"] });
  await create();
  reset();
  await create();
  expect(counts).toMatchObject({ reads: 0, commits: 1 });
});

it("a started engine reads twice to send a message and record its answer, and commits twice", async () => {
  const { clock, started } = world();
  const { counted, counts, reset } = counting(postgres.open().connect());
  const one = await started(counted);
  await one.messages.send({ to: "+15005550001", body: "Hello" });
  await clock.advance(1_000);
  reset();
  const { id } = await one.messages.send({ to: "+15005550002", body: "Hello" });
  await clock.settle();
  expect((await one.messages.get(id)).status).toBe("sent");
  expect(counts).toMatchObject({ reads: 2, commits: 2 });
});

it.each(storages)(
  "a message that a search finds is leased and handed over in one commit, on $name",
  async ({ open }) => {
    const { clock, engine, started } = world();
    const ground = open();
    await engine(ground.connect()).messages.send({ to: "+15005550001", body: "Hello" });
    const commits: string[][] = [];
    const listed = beforeCommits(ground.connect(), async (writes) => {
      commits.push(writes.map(({ kind, collection }) => `${kind} ${collection.name}`));
    });
    await started(listed, { transports: [carrier()] });
    await clock.advance(10);
    const leasing = commits.find((writes) => writes.includes("update jobs"));
    expect(leasing).toContain("insert message_attempts");
  },
);

it.each([
  { by: "the process that accepted it", reads: 1 },
  { by: "another process", reads: 2 },
])(
  "a message that a search finds is leased and handed over with $reads round trips of reads by $by",
  async ({ by, reads }) => {
    const { clock, engine } = world();
    const ground = postgres.open();
    const storage = ground.connect();
    /** The reads of each group that leases a job. */
    const leasing: Lookup[][][] = [];
    const listed = over(storage, {
      begin(how) {
        const group = storage.begin(how);
        const read: Lookup[][] = [];
        return over(group, {
          read(lookups) {
            read.push([...lookups]);
            if (read.length === 1 && lookups.some(({ lock }) => lock === true)) leasing.push(read);
            return group.read(lookups);
          },
        });
      },
    });
    const one = engine(listed, { transports: [carrier()] });
    const sender = by === "another process" ? engine(ground.connect()) : one;
    const { id } = await sender.messages.send({ to: "+15005550001", body: "Hello" });
    await one.start();
    await clock.advance(10);
    expect((await one.messages.get(id)).status).toBe("sent");
    expect(leasing.map((each) => each.length)).toEqual([reads]);
  },
);

it.each(embeddedStorages)(
  "the account is read for a marketing message only, since its quiet hours apply to no other, on $name",
  async ({ open }) => {
    const { clock, started } = world();
    const storage = open().connect();
    let reads = 0;
    const listed = withGroups(storage, {
      read(lookups, group) {
        reads += lookups.filter(({ index }) => index.collection.name === "accounts").length;
        return group.read(lookups);
      },
    });
    const quietHours = { from: "00:00", to: "00:00" };
    const one = await started(listed, { transports: [carrier()], quietHours });
    const readsOf = async (category: "transactional" | "marketing"): Promise<number> => {
      reads = 0;
      await one.messages.send({ to: "+15005550001", body: "Hello", category });
      await clock.settle();
      return reads;
    };
    await readsOf("transactional");
    expect(await readsOf("transactional")).toBe(0);
    expect(await readsOf("marketing")).toBeGreaterThan(0);
  },
);

const receipts = { timeout_ms: 3_600_000, lookups_ms: [] };

it.each(
  embeddedStorages.flatMap((storage) => [
    {
      ...storage,
      when: "no receipt follows",
      has: { receipts: "none" } as const,
      read: "contacts by account_id,mode,id",
    },
    { ...storage, when: "receipts may follow", has: { receipts }, read: "jobs by kind,key" },
  ]),
)(
  "on $name, an answer takes 2 reads of its own if $when; answers that commit together share the others",
  async ({ open, has, read }) => {
    const { clock, started } = world();
    const storage = open().connect();
    const lookups: Lookup[] = [];
    const listed = withGroups(storage, {
      read(given, group) {
        lookups.push(...given);
        return group.read(given);
      },
    });
    const { promise: told, answer: tell } = held<void>();
    const line = carrier({
      ...has,
      async send(_, attempt) {
        if (line.calls.length > 1) await told;
        return accepted(attempt);
      },
    });
    const one = await started(listed, { transports: [line] });
    const to = (n: number): string => `+1500555000${n}`;
    // A process keeps only rows of collections that it has looked for.
    await one.messages.send({ to: to(1), body: "Hello" });
    await clock.advance(7_777);
    for (const n of [2, 3]) await one.messages.send({ to: to(n), body: "Hello" });
    await clock.settle();
    lookups.length = 0;
    tell();
    await clock.settle();
    const { data } = await one.messages.list();
    const status = has.receipts === "none" ? "delivered" : "sent";
    expect(data.map((message) => message.status)).toEqual([status, status, status]);
    const names = lookups.map(
      ({ index, key }) =>
        `${index.collection.name} by ${index.columns.slice(0, key.length).join(",")}`,
    );
    const own = ["message_attempts by transport,provider_message_id", read];
    const shared = ["early_receipts by transport", "webhook_patterns by account_id,mode"];
    expect(names.toSorted()).toEqual([...own, ...own, ...shared].toSorted());
  },
);
