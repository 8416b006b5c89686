import { describe, expect, it } from "vitest";
import { TidingsError } from "../../src/kernel/errors.ts";
import { StorageConflict, type StoragePort } from "../../src/ports/storage.ts";
import type { SendAnswer } from "../../src/ports/transport.ts";
import { accepted, busy, carrier, held, type Script } from "../support/engines/carrier.ts";
import { world, type World } from "../support/engines/world.ts";
import { cases, isLong } from "../support/runs.ts";
import { withGroups } from "../support/storage/groups.ts";
import { lightStorages, storages, type Ground } from "../support/storage/storages.ts";

const hello = { to: "+15005550001", body: "Hello" };

/** A storage that an engine can lose: its commits fail, as if its process stalled. */
function severed(storage: StoragePort): {
  readonly storage: StoragePort;
  cut(): void;
  mend(): void;
} {
  let isCut = false;
  const away = (): never => {
    throw new TidingsError("storage_unavailable", "The line is cut.");
  };
  return {
    storage: withGroups(storage, {
      read: (lookups, group) => (isCut ? away() : group.read(lookups)),
      commit: (writes, group) => (isCut ? away() : group.commit(writes)),
    }),
    cut: () => {
      isCut = true;
    },
    mend: () => {
      isCut = false;
    },
  };
}

/**
 * An engine that lost its storage during a carrier call, with messages of these texts behind the
 * one that it sends. The test answers the call.
 */
async function stalled(
  { clock, engine, started }: World,
  ground: Ground,
  script: Script = {},
  behind: readonly string[] = [],
) {
  const answer = held<SendAnswer>();
  const line = severed(ground.connect());
  const first = carrier({
    send: (message, attempt) =>
      message.body === "Hello" && attempt.number === 1 ? answer.promise : accepted(attempt),
  });
  const one = engine(line.storage, { transports: [first] });
  const { id } = await one.messages.send(hello);
  for (const body of behind) await one.messages.send({ ...hello, body });
  await one.start();
  await clock.settle();
  line.cut();
  const second = carrier(script);
  const two = await started(ground.connect(), { transports: [second] });
  const [call] = first.calls;
  if (call === undefined) throw new Error("the carrier was not called");
  return { id, call, answer, line, one, two, second, first };
}

describe.each(lightStorages)("leases on $name", ({ open }) => {
  it("keep a conversation with its engine until they lapse; its message is then ambiguous", async () => {
    const { clock, ...rest } = world();
    const { id, two, second } = await stalled({ clock, ...rest }, open());
    await clock.advance(59_000);
    expect((await two.messages.get(id)).status).toBe("sending");
    await clock.advance(7_000);
    expect(await two.messages.get(id)).toMatchObject({
      status: "ambiguous",
      error: { code: "answer_lost" },
    });
    expect(second.calls).toEqual([]);
  });

  it("that lapsed pass the rest of a conversation to another engine", async () => {
    const { clock, ...rest } = world();
    const { two, second } = await stalled({ clock, ...rest }, open());
    const { id: next } = await two.messages.send(hello);
    await clock.advance(50_000);
    expect(second.calls).toEqual([]);
    await clock.advance(20_000);
    expect(second.calls.map(({ message }) => message.message_id)).toEqual([next]);
  });

  it("that lapsed cause a look-up after 60 s, and a resend if the message was not sent", async () => {
    const { clock, ...rest } = world();
    const { id, two, second, call } = await stalled({ clock, ...rest }, open(), {
      lookup: () => ({ outcome: "not_sent" }),
    });
    await clock.advance(600_000);
    expect(second.lookups).toHaveLength(1);
    expect((second.lookups[0]?.at ?? 0) - call.at).toBeGreaterThanOrEqual(120_000);
    expect(second.calls.map(({ attempt }) => attempt.number)).toEqual([2]);
    expect((await two.messages.get(id)).status).toBe("sent");
  });

  it.each([30_000, 66_000])(
    "that lapsed cause no early look-up if the clock is set forward %i ms after the call began",
    async (ms) => {
      const { clock, ...rest } = world();
      const lookedUpAt: number[] = [];
      const begun = clock.monotonic();
      const { two } = await stalled({ clock, ...rest }, open(), {
        lookup: () => {
          lookedUpAt.push(clock.monotonic() - begun);
          return { outcome: "unknown" };
        },
      });
      await clock.advance(ms);
      clock.step(3_600_000);
      await clock.advance(119_000 - ms);
      expect(lookedUpAt).toEqual([]);
      await clock.advance(121_000 + ms);
      expect(lookedUpAt.length).toBeGreaterThanOrEqual(1);
      await two.stop();
    },
  );

  it.each([
    ["accepted", "sent", 1],
    ["rejected", "sent", 2],
  ] as const)("that are lost do not invalidate a late answer: %s", async (said, status, calls) => {
    const { clock, ...rest } = world();
    const { id, call, answer, line, two, first, second } = await stalled(
      { clock, ...rest },
      open(),
    );
    await clock.advance(12_000);
    // The owner resumes before its call's deadline, but its lease has lapsed.
    clock.step(60_000);
    await clock.advance(6_000);
    expect((await two.messages.get(id)).status).toBe("ambiguous");
    line.mend();
    answer.answer(said === "accepted" ? accepted(call.attempt) : busy());
    await clock.advance(30_000);
    expect((await two.messages.get(id)).status).toBe(status);
    expect(first.calls.length + second.calls.length).toBe(calls);
    const { data } = await two.messages.timeline(id);
    const told = data.flatMap((entry) => (entry.type === "transition" ? [entry.to] : []));
    expect(told.slice(0, 3)).toEqual(["queued", "sending", "ambiguous"]);
    expect(told.at(-1)).toBe(status);
  });

  it("that are lost prevent further sends, even if the engine believes that it holds them", async () => {
    const { clock, ...rest } = world();
    const { call, answer, line, one, two, first, second } = await stalled(
      { clock, ...rest },
      open(),
    );
    clock.step(70_000);
    await clock.advance(6_000);
    await two.messages.send({ ...hello, body: "second" });
    await two.messages.send({ ...hello, body: "third" });
    await clock.advance(100);
    line.mend();
    answer.answer(accepted(call.attempt));
    await clock.advance(30_000);
    const bodies = [...first.calls, ...second.calls].map(({ message }) => message.body);
    expect(bodies.toSorted()).toEqual(["Hello", "second", "third"]);
    await one.stop({ deadlineMs: 0 });
  });

  it("that are lost leave the conversation to the engine that has it now", async () => {
    const { clock, ...rest } = world();
    const slow = held<SendAnswer>();
    const { call, answer, line, one, two, first, second } = await stalled(
      { clock, ...rest },
      open(),
      { send: () => slow.promise },
      ["second", "third"],
    );
    clock.step(70_000);
    await clock.advance(6_000);
    line.mend();
    answer.answer(accepted(call.attempt));
    await clock.advance(2_000);
    const calls = [...first.calls, ...second.calls];
    expect(calls.map(({ message }) => message.body)).toEqual(["Hello", "second"]);
    const sending = calls.at(-1)?.message.message_id ?? "";
    expect((await two.messages.get(sending)).status).toBe("sending");
    await one.stop({ deadlineMs: 0 });
  });

  it("are extended during a long backlog, so that no other engine takes over", async () => {
    const { clock, engine, started } = world();
    const ground = open();
    const slow = carrier({
      send: (_, attempt) => clock.sleep(20_000).then(() => accepted(attempt)),
    });
    const other = carrier();
    const one = engine(ground.connect(), { transports: [slow] });
    // They wait before the first hand-over, so one run hands over all of them.
    const ids: string[] = [];
    for (let n = 0; n < 10; n++) ids.push((await one.messages.send(hello)).id);
    await one.start();
    await clock.settle();
    await started(ground.connect(), { transports: [other] });
    await clock.advance(250_000);
    expect(slow.calls.map(({ message }) => message.message_id)).toEqual(ids);
    expect(other.calls).toEqual([]);
  });

  it("do not delay a message that was queued during a send", async () => {
    const { clock, started } = world();
    const answer = held<void>();
    const line = carrier({ send: (_, attempt) => answer.promise.then(() => accepted(attempt)) });
    const one = await started(open().connect(), { transports: [line] });
    await one.messages.send(hello);
    await clock.settle();
    await one.messages.send({ ...hello, body: "meanwhile" });
    await clock.advance(10);
    answer.answer();
    await clock.settle();
    expect(line.calls.map(({ message }) => message.body)).toEqual(["Hello", "meanwhile"]);
  });

  it("are taken although a message cannot be handed over, which then waits longer each time", async () => {
    const { clock, engine, started, log } = world();
    const ground = open();
    const storage = ground.connect();
    let isHeld = true;
    // A transaction of the host application holds a row that the hand-over needs.
    const own = withGroups(storage, {
      async commit(writes, group) {
        const handsOver = writes.some(
          ({ kind, collection }) => kind === "insert" && collection.name === "message_attempts",
        );
        if (!isHeld || !handsOver) return group.commit(writes);
        await group.abort();
        throw new StorageConflict("another transaction holds a lock on a row");
      },
    });
    const line = carrier();
    await started(own, { transports: [line] });
    await clock.settle();
    await engine(ground.connect()).messages.send(hello);
    await clock.advance(30_000);
    const lines = log.map(({ message }) => message);
    expect(new Set(lines)).toEqual(new Set(["a job failed; retrying"]));
    expect(lines.length).toBeLessThan(7);
    isHeld = false;
    await clock.advance(60_000);
    expect(line.calls).toHaveLength(1);
  });
});

// Memory shows no more than a file does.
const shared = cases(storages, ({ name }) => name !== "memory");

describe.each(shared)("several engines on $name", ({ name, open }) => {
  const rounds = isLong || name === "SQLite" ? 6 : 3;

  it("share the work: each message is sent once, each conversation in order", async () => {
    const { clock, engine } = world();
    const ground = open();
    const lines = [carrier(), carrier(), carrier()];
    const engines = lines.map((line) =>
      engine(ground.connect(), { transports: [line], laneConcurrency: 4 }),
    );
    for (const each of engines) await each.start();
    const [first] = engines;
    if (first === undefined) throw new Error("no engine");
    const sent: { id: string; to: string }[] = [];
    const send = (n: number) =>
      (engines[n % 3] ?? first).messages.send({
        to: `+1500555${2_000 + (n % 15)}`,
        body: String(n),
      });
    // The next message of each conversation.
    for (let from = 0; from < 15 * rounds; from += 15) {
      sent.push(...(await Promise.all(Array.from({ length: 15 }, (_, i) => send(from + i)))));
    }
    await clock.advance(60_000);
    const calls = lines.flatMap(({ calls: each }) => each);
    expect(calls.map(({ message }) => message.message_id).toSorted()).toEqual(
      sent.map(({ id }) => id).toSorted(),
    );
    for (const line of lines) {
      for (const to of new Set(line.calls.map(({ message }) => message.to))) {
        const numbers = line.calls
          .filter(({ message }) => message.to === to)
          .map(({ message }) => Number(message.body));
        expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
      }
    }
    expect(
      (await first.messages.list({ limit: 100 })).data.every(({ status }) => status === "sent"),
    ).toBe(true);
  });
});
