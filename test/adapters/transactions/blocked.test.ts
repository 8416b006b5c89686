/** Commands outside of a transaction that need its rows while it is open, on PostgreSQL. */
import { describe, expect, it, onTestFinished } from "vitest";
import type { MessagingEngine } from "../../../src/engine.ts";
import { TidingsError } from "../../../src/kernel/errors.ts";
import { world } from "../../support/engines/world.ts";
import { longTest } from "../../support/runs.ts";
import { beforeCommits } from "../../support/storage/groups.ts";
import { hosts, type Host, type OwnTransaction } from "./hosts.ts";

const { open } = hosts.find(({ name }) => name === "PostgreSQL") ?? expect.fail("no PostgreSQL");

const ann = { to: "+15005550001", body: "From the transaction" };
const numbers = ["+15005550002", "+15005550003", "+15005550004"];

/** Opens a transaction that ends with the test at the latest. */
async function begin(host: Host): Promise<OwnTransaction> {
  const { tx, end } = await host.begin();
  let ended: Promise<void> | undefined;
  const endOnce: typeof end = (how) => (ended ??= end(how));
  onTestFinished(() => endOnce("ROLLBACK"));
  return { tx, end: endOnce };
}

/** An engine, and a transaction of the host application that has sent a message to Ann. */
async function opened({ isKnown = true, key = "theirs" } = {}) {
  const host = await open();
  const { clock, engine } = world();
  const storage = host.connect();
  let isBroken = false;
  let commits = 0;
  const one = engine(
    beforeCommits(storage, async () => {
      commits++;
      if (isBroken) throw new TidingsError("storage_unavailable", "The storage is gone.");
    }),
  );
  if (isKnown) await one.messages.send({ ...ann, body: "Before" });
  else await one.messages.list();
  const own = await begin(host);
  await one.messages.send(ann, { tx: own.tx, idempotencyKey: key });
  const breakStorage = () => void (isBroken = true);
  return { host, clock, one, own, breakStorage, commits: () => commits };
}

/** Sends a message to Ann. `state` tells how the call has ended. */
function sending(engine: MessagingEngine<object>, body: string, idempotencyKey?: string) {
  const sent = engine.messages.send({ ...ann, body }, idempotencyKey ? { idempotencyKey } : {});
  const call: { state: string; readonly sent: typeof sent } = { state: "waits", sent };
  sent.then(
    () => (call.state = "sent"),
    (error: unknown) => (call.state = error instanceof TidingsError ? error.code : "broken"),
  );
  return call;
}

/** The bodies of the messages to Ann in their order. */
async function bodies(engine: MessagingEngine<object>): Promise<string[]> {
  const { data } = await engine.messages.list({ to: ann.to });
  return data.map(({ body }) => body ?? "").toReversed();
}

describe("while a transaction on PostgreSQL is open", () => {
  it("a message to its contact waits until it commits, and other messages do not wait", async () => {
    const { clock, one, own } = await opened();
    const waiting = sending(one, "After");
    for (const to of numbers) await one.messages.send({ to, body: "Hello" });
    expect(waiting.state).toBe("waits");
    await own.end("COMMIT");
    await clock.advanceUntil(() => waiting.state !== "waits");
    expect(waiting.state).toBe("sent");
    expect(await bodies(one)).toEqual(["Before", ann.body, "After"]);
  });

  it.each([
    { whom: "its contact", isKnown: true },
    { whom: "the contact that it creates", isKnown: false },
  ])("messages to $whom keep their order", async ({ isKnown }) => {
    const { clock, one, own } = await opened({ isKnown });
    const calls = [sending(one, "1"), sending(one, "2")];
    await one.messages.send({ to: numbers[0] ?? "", body: "Hello" });
    calls.push(sending(one, "3"));
    await one.messages.send({ to: numbers[1] ?? "", body: "Hello" });
    // They have met the lock when the time advances. Until it advances again, nothing tries again.
    await clock.advance(1);
    await own.end("COMMIT");
    calls.push(sending(one, "4"));
    await one.messages.send({ to: numbers[2] ?? "", body: "Hello" });
    expect(calls.map(({ state }) => state)).toEqual(["waits", "waits", "waits", "waits"]);
    await clock.advanceUntil(() => calls.every(({ state }) => state === "sent"));
    const before = isKnown ? ["Before"] : [];
    expect(await bodies(one)).toEqual([...before, ann.body, "1", "2", "3", "4"]);
  });

  it("a stream of messages to its contact goes on without pauses once it has ended", async () => {
    const { clock, one, own } = await opened();
    const stream = async (): Promise<void> => {
      for (let i = 0; i < 10; i++) await one.messages.send(ann);
    };
    let areSent = false;
    const streams = Promise.all(Array.from({ length: 8 }, stream)).then(() => (areSent = true));
    for (const to of numbers) await one.messages.send({ to, body: "Hello" });
    await own.end("COMMIT");
    const ended = clock.monotonic();
    await clock.advanceUntil(() => areSent);
    await streams;
    expect(clock.monotonic() - ended).toBeLessThanOrEqual(200);
  });

  longTest("more messages to its contact than a group has are sent in their order", async () => {
    const { clock, one, own } = await opened();
    const texts = Array.from({ length: 300 }, (_, i) => String(i));
    let areSent = false;
    const sent = Promise.all(texts.map((body) => one.messages.send({ ...ann, body })));
    const all = sent.then(() => (areSent = true));
    for (const to of numbers) await one.messages.send({ to, body: "Hello" });
    await own.end("COMMIT");
    await clock.advanceUntil(() => areSent);
    await all;
    const { data } = await one.messages.list({ to: ann.to, limit: 100 });
    expect(data.map(({ body }) => body).toReversed()).toEqual(texts.slice(-100));
  });

  it("the messages that share a commit with one to its contact take few commits", async () => {
    const { clock, one, own, commits } = await opened();
    const others = Array.from({ length: 100 }, (_, i) => `+150055501${String(i).padStart(2, "0")}`);
    const before = commits();
    const sent = Promise.all(others.map((to) => one.messages.send({ to, body: "Hello" })));
    const waiting = sending(one, "After");
    await sent;
    expect(commits() - before).toBeLessThan(40);
    await own.end("COMMIT");
    await clock.advanceUntil(() => waiting.state !== "waits");
    expect(waiting.state).toBe("sent");
  });

  longTest("messages to its contact fail after 5 s, and other messages do not", async () => {
    const { clock, one, own } = await opened();
    const calls = ["1", "2", "3"].map((body) => sending(one, body));
    for (const to of numbers) await one.messages.send({ to, body: "Hello" });
    await clock.advance(4_900);
    expect(calls.map(({ state }) => state)).toEqual(["waits", "waits", "waits"]);
    await clock.advance(300);
    expect(calls.map(({ state }) => state)).toEqual(Array(3).fill("storage_contended"));
    await expect(calls[0]?.sent).rejects.toMatchObject({ retryable: true });
    for (const to of numbers) await one.messages.send({ to, body: "Hello" });
    await own.end("COMMIT");
    await sending(one, "After").sent;
    expect(await bodies(one)).toEqual(["Before", ann.body, "After"]);
  });

  longTest("a command that only depends on a row of it fails after 5 s, too", async () => {
    const { clock, one, own } = await opened();
    const [contact] = (await one.contacts.list()).data;
    const id = contact?.id ?? "";
    await one.contacts.update(id, { name: "Ann" }, { tx: own.tx });
    let refused: unknown;
    const unchanged = one.contacts.update(id, {}).catch((error: unknown) => (refused = error));
    for (const to of numbers) await one.messages.send({ to, body: "Hello" });
    await clock.advance(4_900);
    expect(refused).toBeUndefined();
    await clock.advance(300);
    expect(refused).toMatchObject({ code: "storage_contended" });
    await unchanged;
  });

  it.each(["COMMIT", "ROLLBACK"] as const)(
    "messages to the contact that it creates wait for its %s",
    async (how) => {
      const { clock, one, own } = await opened({ isKnown: false });
      const calls = ["1", "2", "3"].map((body) => sending(one, body));
      for (const to of numbers) await one.messages.send({ to, body: "Hello" });
      expect(calls.map(({ state }) => state)).toEqual(["waits", "waits", "waits"]);
      await own.end(how);
      await clock.advanceUntil(() => calls.every(({ state }) => state === "sent"));
      const theirs = how === "COMMIT" ? [ann.body] : [];
      expect(await bodies(one)).toEqual([...theirs, "1", "2", "3"]);
      const { data } = await one.contacts.list();
      expect(data).toHaveLength(1 + numbers.length);
    },
  );

  it("a command with its idempotency key waits for its response", async () => {
    const { clock, one, own } = await opened({ key: "k" });
    const waiting = sending(one, ann.body, "k");
    for (const to of numbers) await one.messages.send({ to, body: "Hello" });
    expect(waiting.state).toBe("waits");
    await own.end("COMMIT");
    await clock.advanceUntil(() => waiting.state !== "waits");
    expect(waiting.state).toBe("sent");
    expect(await bodies(one)).toEqual(["Before", ann.body]);
  });

  longTest("a message to its contact fails with the storage", async () => {
    const { one, clock, own, breakStorage } = await opened();
    const calls = [sending(one, "1"), sending(one, "2")];
    for (const to of numbers) await one.messages.send({ to, body: "Hello" });
    breakStorage();
    await clock.advance(100);
    expect(calls.map(({ state }) => state)).toEqual(Array(2).fill("storage_unavailable"));
    await own.end("ROLLBACK");
  });

  it("an engine that stops waits for it only until the deadline", async () => {
    const { clock, one } = await opened();
    const waiting = sending(one, "After");
    for (const to of numbers) await one.messages.send({ to, body: "Hello" });
    let isOver = false;
    const stopped = one.stop({ deadlineMs: 1_000 }).finally(() => (isOver = true));
    await clock.advance(900);
    expect([isOver, waiting.state]).toEqual([false, "waits"]);
    await clock.advance(200);
    expect(waiting.state).toBe("storage_contended");
    await stopped;
  });

  longTest("a message to its contact is sent before the engine has stopped", async () => {
    const { one, clock, own } = await opened();
    const waiting = sending(one, "After");
    for (const to of numbers) await one.messages.send({ to, body: "Hello" });
    let isStopped = false;
    const stopping = one.stop().then(() => (isStopped = true));
    await clock.advance(50);
    expect([waiting.state, isStopped]).toEqual(["waits", false]);
    await own.end("COMMIT");
    await clock.advanceUntil(() => isStopped);
    await stopping;
    expect(waiting.state).toBe("sent");
  });

  longTest("the message of another open transaction to another contact does not wait", async () => {
    const { host, clock, one, own } = await opened();
    const other = await begin(host);
    const bob = { to: numbers[0] ?? "", body: "Hello" };
    await one.messages.send(bob);
    await one.messages.send(bob, { tx: other.tx });
    const waiting = sending(one, "After");
    let isBobSent = false;
    const sent = one.messages.send(bob).then(() => (isBobSent = true));
    await one.messages.send({ to: numbers[1] ?? "", body: "Hello" });
    await other.end("COMMIT");
    await clock.advanceUntil(() => isBobSent);
    await sent;
    expect(waiting.state).toBe("waits");
    await own.end("COMMIT");
    await clock.advanceUntil(() => waiting.state === "sent");
  });
});
