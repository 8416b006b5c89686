/** The search for work, and work under way, while the storage is away. */
import { describe, expect, it } from "vitest";
import { TidingsError } from "../../src/kernel/index.ts";
import { messages } from "../../src/messages/rows.ts";
import { StorageConflict, type Write } from "../../src/ports/index.ts";
import { jobsByDueTime } from "../../src/queue/jobs/rows.ts";
import { accepted, carrier } from "../support/engines/carrier.ts";
import { stopped, world } from "../support/engines/world.ts";
import { over } from "../support/over.ts";
import { failingCommits, withGroups, writesTo } from "../support/storage/groups.ts";
import { lightStorages, storages } from "../support/storage/storages.ts";

describe.each(lightStorages)("an engine on $name", ({ open }) => {
  it("survives a storage outage", async () => {
    const { clock, engine, started } = world();
    const ground = open();
    const storage = ground.connect();
    let down = false;
    const reader: typeof storage.reader = over(storage.reader, {
      range: (range) => (down ? Promise.reject(new Error("away")) : storage.reader.range(range)),
    });
    const line = carrier();
    await started(over(storage, { reader }), { transports: [line] });
    // A search that is under way could still find the message.
    await clock.settle();
    down = true;
    // Another engine accepts the message, so this one has to search for it.
    await engine(ground.connect()).messages.send({ to: "+15005550001", body: "Hi" });
    await clock.advance(10_000);
    expect(line.calls).toEqual([]);
    down = false;
    await clock.advance(1_000);
    expect(line.calls).toHaveLength(1);
  });

  it("takes due jobs a second after a storage that was read-only accepts commits", async () => {
    const { clock, engine, started, log } = world();
    const ground = open();
    const storage = ground.connect();
    let isReadOnly = false;
    const line = carrier();
    const own = failingCommits(storage, () => isReadOnly);
    await started(own, { transports: [line] });
    await clock.settle();
    isReadOnly = true;
    await engine(ground.connect()).messages.send({ to: "+15005550001", body: "Hi" });
    await clock.advance(7_777);
    expect(line.calls).toEqual([]);
    isReadOnly = false;
    await clock.advance(1_000);
    expect(line.calls).toHaveLength(1);
    const leases = log.filter(({ message }) => message.startsWith("due jobs "));
    expect(leases).toMatchObject([
      { level: "warn", message: "due jobs could not be leased; retrying", facts: { failures: 1 } },
      { level: "info", message: "due jobs can be leased again" },
    ]);
  });

  it("runs a job that an outage interrupted again within seconds, not when its lease expires", async () => {
    const { clock, started } = world();
    const storage = open().connect();
    let [isDown, isOver] = [false, false];
    const leases = (write: Write): boolean =>
      write.kind === "update" && write.row["kind"] === "release" && write.row["leased"] === true;
    const own = withGroups(storage, {
      async commit(writes, group) {
        if (!isDown) {
          await group.commit(writes);
          // The outage begins while the job runs, and job and engine meet it.
          isDown = !isOver && writes.some(leases);
          return;
        }
        await group.abort();
        throw new TidingsError("storage_unavailable", "away");
      },
    });
    const line = carrier();
    const one = await started(own, { transports: [line] });
    const send_at = new Date(clock.now() + 60_000).toISOString();
    await one.messages.send({ to: "+15005550001", body: "Hi", send_at });
    await clock.advance(64_000);
    expect([isDown, line.calls]).toEqual([true, []]);
    [isDown, isOver] = [false, true];
    await clock.advance(6_000);
    expect(line.calls).toHaveLength(1);
  });

  it("runs a job whose rows another transaction has locked for minutes within seconds of their release", async () => {
    const { clock, engine, log } = world();
    const storage = open().connect();
    let isLocked = true;
    const own = over(storage, {
      begin(how) {
        const group = storage.begin(how);
        return over(group, {
          async commit(writes) {
            const isReleased = writes.some(writesTo(messages, "update"));
            if (!isLocked || !isReleased) return group.commit(writes);
            await group.abort();
            throw new StorageConflict("locked", { isLocked: true });
          },
        });
      },
    });
    const line = carrier();
    const one = engine(own, { transports: [line] });
    await one.start();
    const send_at = new Date(clock.now() + 60_000).toISOString();
    await one.messages.send({ to: "+15005550001", body: "Hi", send_at });
    await clock.advance(600_000);
    isLocked = false;
    await clock.advance(11_000);
    expect(line.calls).toHaveLength(1);
    const failed = log.filter(({ message }) => message === "a job failed; retrying");
    expect(failed.length).toBeLessThan(12);
  });

  it.each([
    { what: "an outage", retryable: true },
    { what: "missing privileges", retryable: false },
  ])(
    "stores a carrier's answer after 45 s of $what, and goes on with the conversation within seconds",
    async ({ retryable }) => {
      const { clock, engine } = world();
      const storage = open().connect();
      let isDown = false;
      const own = failingCommits(storage, () => isDown, { retryable });
      const line = carrier({
        send: (message, attempt) => {
          if (message.body === "first") isDown = true;
          return accepted(attempt);
        },
      });
      const one = engine(own, { transports: [line] });
      for (const body of ["first", "second"]) await one.messages.send({ to: "+15005550001", body });
      await one.start();
      await clock.advance(45_000);
      expect([isDown, line.calls.length]).toEqual([true, 1]);
      isDown = false;
      await clock.advance(5_000);
      const { data } = await one.messages.list();
      expect(data.map(({ body, status }) => [body, status])).toEqual([
        ["second", "sent"],
        ["first", "sent"],
      ]);
    },
  );

  it("does not wait at a stop for privileges that the storage lacks", async () => {
    const { clock, engine } = world();
    let isDown = false;
    const own = failingCommits(open().connect(), () => isDown, { retryable: false });
    const line = carrier({
      send: (_, attempt) => {
        isDown = true;
        return accepted(attempt);
      },
    });
    const one = engine(own, { transports: [line] });
    await one.messages.send({ to: "+15005550001", body: "Hi" });
    await one.start();
    await clock.advance(5_000);
    expect(line.calls).toHaveLength(1);
    let isOver = false;
    const ended = one.stop({ deadlineMs: 10_000 }).finally(() => (isOver = true));
    await clock.advance(2_500);
    expect(isOver).toBe(true);
    await ended;
  });

  it("logs the jobs that an outage interrupts once a minute, however many they are", async () => {
    const { clock, engine, log } = world();
    const storage = open().connect();
    let isDown = false;
    const own = failingCommits(storage, () => isDown);
    const line = carrier({
      send: async (_message, attempt) => {
        await clock.sleep(1_000);
        isDown = true;
        return accepted(attempt);
      },
    });
    const one = engine(own, { transports: [line] });
    for (let n = 10; n < 40; n++) await one.messages.send({ to: `+150055500${n}`, body: "Hi" });
    await one.start();
    await clock.advance(180_000);
    expect(line.calls).toHaveLength(30);
    expect(log.filter(({ message }) => message.includes("failed"))).toMatchObject([
      { message: "a job failed; retrying", facts: { failures: 1 } },
      { message: "a failed job could not be rescheduled; it runs again when its lease expires" },
    ]);
  });

  it("lets no command wait for the deadlines of many groups while the storage does not respond", async () => {
    const { clock, engine } = world();
    const storage = open().connect();
    let isSilent = false;
    const own = withGroups(storage, {
      async commit(writes, group) {
        if (!isSilent) return group.commit(writes);
        await clock.sleep(30_000);
        await group.abort();
        throw new TidingsError("storage_unavailable", "no response");
      },
    });
    const one = engine(own);
    await one.messages.list();
    isSilent = true;
    // Several groups of at most 128 commands.
    const codes: string[] = [];
    for (let i = 0; i < 1_000; i++) {
      one.messages.send({ to: "+15005550001", body: "Hi" }).catch((error: unknown) => {
        codes.push((error as TidingsError).code);
      });
    }
    await clock.advance(70_000);
    expect([codes.length, ...new Set(codes)]).toEqual([1_000, "storage_unavailable"]);
    isSilent = false;
    await one.messages.send({ to: "+15005550001", body: "Hi" });
  });

  describe("that gets no answer to a commit which was stored", () => {
    const hello = { to: "+15005550001", body: "Hi" };

    /** An engine that gets no answer to the first commit with such a write, once it is armed. */
    async function opened(isLost: (write: Write) => boolean) {
      const { clock, engine, started } = world();
      const ground = open();
      const storage = ground.connect();
      let isArmed = false;
      const own = withGroups(storage, {
        async commit(writes, group) {
          await group.commit(writes);
          if (!isArmed || !writes.some(isLost)) return;
          isArmed = false;
          throw new TidingsError("storage_unavailable", "The connection was lost.");
        },
      });
      const line = carrier();
      const one = await started(own, { transports: [line] });
      const other = engine(ground.connect(), { transports: [line] });
      await other.messages.list();
      await clock.settle();
      const arm = (): void => void (isArmed = true);
      const isOver = (): boolean => !isArmed;
      const statuses = async (): Promise<string[]> =>
        (await one.messages.list()).data.map(({ status }) => status);
      return { clock, one, other, line, arm, isOver, statuses };
    }

    const isNewAttempt = ({ kind, collection }: Write): boolean =>
      kind === "insert" && collection.name === "message_attempts";
    const isLease = (write: Write): boolean =>
      "row" in write && write.row["kind"] === "send" && write.row["leased"] === true;

    it("hands a message over that began in the commit of its send", async () => {
      const { clock, one, line, arm, statuses } = await opened(isLease);
      arm();
      await expect(one.messages.send(hello)).rejects.toMatchObject({ code: "storage_unavailable" });
      await clock.advance(5_000);
      expect(line.calls).toHaveLength(1);
      expect(await statuses()).toEqual(["sent"]);
      await clock.advance(600_000);
      expect(line.calls).toHaveLength(1);
    });

    it.each(["one", "other"] as const)(
      "leaves a message that %s accepted to the next engine, if the stop waits no longer",
      async (accepting) => {
        const { clock, line, arm, isOver, ...engines } = await opened(isLease);
        arm();
        await engines[accepting].messages.send(hello).catch(() => {});
        await clock.advanceUntil(isOver);
        await stopped(engines.one, clock);
        expect(line.calls).toEqual([]);
        await engines.other.start();
        await clock.settle();
        expect(line.calls.map(({ attempt }) => attempt.number)).toEqual([1]);
        const { data } = await engines.other.messages.list();
        expect(data).toMatchObject([{ status: "sent" }]);
      },
    );

    it.each(["one", "other"] as const)(
      "hands a message over that %s accepted, although the engine stops then",
      async (accepting) => {
        const { clock, line, arm, isOver, ...engines } = await opened(isLease);
        arm();
        await engines[accepting].messages.send(hello).catch(() => {});
        await clock.advanceUntil(isOver);
        expect(line.calls).toEqual([]);
        await stopped(engines.one, clock, 5_000);
        expect(line.calls).toHaveLength(1);
        const { data } = await engines.other.messages.list();
        expect(data).toMatchObject([{ status: "sent" }]);
      },
    );

    it("runs a job that it leased", async () => {
      const { clock, other, line, arm, isOver, statuses } = await opened(isLease);
      arm();
      await other.messages.send(hello);
      await clock.advance(10_000);
      expect([isOver(), line.calls.length]).toEqual([true, 1]);
      expect(await statuses()).toEqual(["sent"]);
    });

    it("calls the carrier with the next message of a conversation", async () => {
      const { clock, other, line, arm, isOver, statuses } = await opened(isNewAttempt);
      for (const body of ["first", "second", "third"]) {
        await other.messages.send({ ...hello, body });
      }
      arm();
      await clock.advance(10_000);
      expect([isOver(), line.calls.map(({ message }) => message.body)]).toEqual([
        true,
        ["first", "second", "third"],
      ]);
      expect(await statuses()).toEqual(["sent", "sent", "sent"]);
    });
  });

  it("logs an outage at once, then every minute, and its end", async () => {
    const { clock, engine, log } = world();
    const storage = open().connect();
    let isDown = false;
    const mustBeUp = async (): Promise<void> => {
      if (isDown) throw new Error("away");
    };
    const reader: typeof storage.reader = over(storage.reader, {
      get: (lookups) => mustBeUp().then(() => storage.reader.get(lookups)),
      range: (range) => mustBeUp().then(() => storage.reader.range(range)),
    });
    const one = engine(over(storage, { reader }));
    one.consume("seen", ["message.sent"], () => {});
    await one.start();
    await clock.advance(10_000);
    isDown = true;
    await clock.advance(100_000);
    const searches = [
      ["failed to read events for a consumer; retrying", "events for a consumer can be read again"],
      ["failed to read new deliveries; retrying", "new deliveries can be read again"],
      ["jobs could not be read; retrying", "jobs can be read again"],
    ];
    if (storage.engineLocks !== undefined) {
      const name = "crashed engines could not be found; retrying";
      searches.unshift([name, "crashed engines can be found again"]);
    }
    for (const [name] of searches) {
      const found = log.filter(({ message }) => message === name);
      const facts = { err: { message: "away" }, failures: expect.any(Number) as unknown };
      expect(found).toMatchObject([
        { level: "warn", facts: { ...facts, failures: 1 } },
        { level: "warn", facts },
      ]);
      // Each search is repeated at least every five seconds.
      expect(Reflect.get(found[1]?.facts ?? {}, "failures")).toBeGreaterThanOrEqual(12);
    }
    expect(log).toHaveLength(2 * searches.length);
    log.length = 0;
    isDown = false;
    await clock.advance(100_000);
    expect(log.map(({ level, message }) => `${level} ${message}`).toSorted()).toEqual(
      searches.map(([, again]) => `info ${again}`).toSorted(),
    );
  });
});

describe.each(storages)("a failed search for due jobs, on $name", ({ open }) => {
  it("is repeated only when the searches of the other pools have ended", async () => {
    const { clock, engine, started, log } = world();
    const storage = open().connect();
    let failures = 1;
    let searches = 0;
    let most = 0;
    const reader = over(storage.reader, {
      async range(range) {
        const [pool] = range.prefix;
        if (range.index !== jobsByDueTime) return storage.reader.range(range);
        if (pool === "webhooks" && failures-- > 0) throw new Error("The connection broke.");
        if (pool === "work") {
          most = Math.max(most, ++searches);
          await clock.sleep(3_000);
          searches--;
        }
        return storage.reader.range(range);
      },
    });
    const line = carrier();
    const other = engine(storage, { transports: [line] });
    await other.messages.send({ to: "+15005550001", body: "Hi" });
    const client = { send: () => new Promise<never>(() => {}), close() {} };
    await started(over(storage, { reader }), { transports: [line], http: { client } });
    await clock.advance(2_999);
    expect([most, line.calls.length]).toEqual([1, 0]);
    await clock.advance(30_000);
    expect([most, line.calls.length]).toEqual([1, 1]);
    expect(
      log.filter(({ message }) => message === "jobs could not be read; retrying"),
    ).toHaveLength(1);
  });
});
