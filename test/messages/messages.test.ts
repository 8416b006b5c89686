import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AccountHandle } from "../../src/host/handles/handles.ts";
import type { MessageStatus } from "../../src/kernel/message-status.ts";
import type { Receipt } from "../../src/ports/transport.ts";
import {
  accepted,
  busy,
  carrier,
  held,
  lost,
  providerId,
  refused,
} from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { everyEvent } from "../support/pages.ts";
import { runsOn } from "../support/runs.ts";
import { lightStorages, storages } from "../support/storage/storages.ts";
import { messageCommands } from "./message-commands.ts";
import { receiptsMs } from "./message-model.ts";

/** The successive statuses of a message by its timeline. */
async function told(
  { messages }: Pick<AccountHandle, "messages">,
  id: string,
): Promise<(MessageStatus | null)[]> {
  const { data } = await messages.timeline(id);
  const changes = data.flatMap((entry) => (entry.type === "transition" ? [entry] : []));
  for (const [i, { from }] of changes.entries()) {
    expect(from, "Each change of status begins with the status before it.").toBe(
      i === 0 ? null : changes[i - 1]?.to,
    );
  }
  expect(data.map(({ at }) => at)).toEqual(data.map(({ at }) => at).toSorted());
  return changes.map(({ to }) => to);
}

const casesOn = { memory: 80, SQLite: 25, PostgreSQL: 8 };

describe.each(storages)("messages on $name", ({ name, open }) => {
  it("match a model, and their timeline, events and usage agree", async () => {
    const { clock, started } = world();
    const line = carrier({
      receipts: { timeout_ms: receiptsMs, lookups_ms: [] },
      send({ body }, attempt) {
        const [plan] = body.split(" ");
        if (plan === "refuse") return refused;
        if (plan === "busy" && attempt.number <= 2) return busy();
        return plan === "lose" ? lost : accepted(attempt);
      },
    });
    const one = await started(open().connect(), { transports: [line] });
    await fc.assert(
      fc.asyncProperty(messageCommands, async (commands) => {
        const {
          account: { id },
        } = await one.accounts.create({ name: "model" });
        const account = one.account(id);
        const ids: string[] = [];
        line.calls.splice(0);
        await fc.asyncModelRun(
          () => ({ model: { messages: [] }, real: { account, clock, carrier: line, ids } }),
          commands,
        );

        const changes = (await everyEvent(account)).flatMap((event) =>
          event.type === "message.updated" ? [event.data] : [],
        );
        const counts = new Map<string, number>();
        for (const message_id of ids) {
          const story = await told(account, message_id);
          expect(
            changes.filter((each) => each.message_id === message_id).map(({ status }) => status),
          ).toEqual(story.slice(1));
          for (const status of story) {
            counts.set(String(status), (counts.get(String(status)) ?? 0) + 1);
          }
        }
        const { data } = await account.usage();
        const used = new Map<string, number>();
        for (const { status, messages } of data) {
          used.set(status, (used.get(status) ?? 0) + messages);
        }
        expect(used).toEqual(counts);
      }),
      { numRuns: runsOn(name, casesOn) },
    );
  });
});

describe.each(lightStorages)("messages on $name", ({ name, open }) => {
  it("end the same with every order and repetition of the carrier's answer and receipts", async () => {
    const { clock, started } = world();
    const answers = new Map<string, () => void>();
    const line = carrier({
      send({ message_id }, attempt) {
        const answer = held<void>();
        answers.set(message_id, () => answer.answer());
        return answer.promise.then(() => accepted(attempt));
      },
    });
    const one = await started(open().connect(), { transports: [line] });
    const said = fc.record({
      status: fc.constantFrom<Receipt["status"]>("sent", "delivered", "undelivered", "read"),
      at: fc.integer({ min: 0, max: 50 }),
      code: fc.constantFrom("unreachable" as const, "filtered" as const),
    });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(said, { minLength: 1, maxLength: 5 }).chain((set) =>
          fc.record({
            set: fc.constant(set),
            orders: fc.array(
              fc.record({
                order: fc
                  .shuffledSubarray([...set, ...set], { minLength: set.length })
                  .map((some) => [...some, ...set]),
                answerAfter: fc.nat(6),
                byAttempt: fc.boolean(),
              }),
              { minLength: 2, maxLength: 3 },
            ),
          }),
        ),
        async ({ orders }) => {
          run++;
          const base = clock.now();
          const ends: unknown[] = [];
          const messages = await Promise.all(
            orders.map((_, i) =>
              one.messages.send({ to: `+1500555${1_000 + run * 5 + i}`, body: "Hi" }),
            ),
          );
          await clock.settle();
          for (const [i, { order, answerAfter, byAttempt }] of orders.entries()) {
            const id = messages[i]?.id ?? "";
            const attempt = line.calls.find(({ message }) => message.message_id === id)?.attempt;
            if (attempt === undefined) throw new Error("not called");
            const subject = byAttempt
              ? { attempt_id: attempt.attempt_id }
              : { provider_message_id: providerId(attempt) };
            for (const [j, { status, at, code }] of order.entries()) {
              if (j === answerAfter) {
                answers.get(id)?.();
                await clock.settle();
              }
              const error = status === "undelivered" ? { error: { code, message: "No." } } : {};
              await line.sink().receipt(subject, { status, at: base + at, ...error });
            }
            answers.get(id)?.();
            await clock.settle();
            const { status, error, sent_at, delivered_at, read_at } = await one.messages.get(id);
            ends.push({ status, error, sent_at, delivered_at, read_at });
            await told(one, id);
            const { data } = await one.messages.timeline(id);
            const receipts = data.flatMap((entry) => (entry.type === "receipt" ? [entry] : []));
            expect(receipts, "The timeline keeps every receipt.").toHaveLength(order.length);
            for (const { applied, ignored_reason } of receipts) {
              expect(
                ignored_reason === null,
                "A receipt has a reason exactly if it was ignored.",
              ).toBe(applied);
            }
          }
          for (const end of ends) expect(end).toEqual(ends[0]);
        },
      ),
      { numRuns: runsOn(name, casesOn) },
    );
  });

  it("are either canceled or handed over, never both", async () => {
    const { clock, engine } = world();
    const ground = open();
    const line = carrier({ send: (_, attempt) => clock.sleep(3).then(() => accepted(attempt)) });
    const worker = engine(ground.connect(), { transports: [line] });
    const web = engine(ground.connect());
    await worker.start();
    const sent = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        web.messages.send({ to: `+1500555${1_000 + (n % 8)}`, body: "Hi" }),
      ),
    );
    const canceled: string[] = [];
    const cancelling = sent.map(async ({ id }, n) => {
      // In reverse order, so that some still wait in their conversation and some are already sent.
      await clock.sleep(Math.floor((sent.length - n) / 4));
      await web.messages.cancel(id).then(
        () => canceled.push(id),
        (error: unknown) => expect(error).toMatchObject({ code: "not_cancelable", status: 409 }),
      );
    });
    await clock.advance(1_000);
    await Promise.all(cancelling);
    const called = line.calls.map(({ message }) => message.message_id);
    expect(canceled.length).toBeGreaterThan(0);
    expect([...called, ...canceled].toSorted()).toEqual(sent.map(({ id }) => id).toSorted());
  });

  it.each([
    [71, "delivered"],
    [73, "sent"],
  ])(
    "apply a receipt that came %d hours before the answer with its provider id: %s",
    async (hours, status) => {
      const { clock, started } = world();
      const ground = open();
      const send = () => ({ outcome: "accepted", provider_message_id: "early" }) as const;
      const first = carrier({ send });
      const one = await started(ground.connect(), { transports: [first] });
      await first
        .sink()
        .receipt({ provider_message_id: "early" }, { status: "delivered", at: clock.now() });
      await one.stop();
      await clock.advance(hours * 3_600_000);
      const two = await started(ground.connect(), { transports: [carrier({ send })] });
      await clock.settle();
      const { id } = await two.messages.send({ to: "+15005550001", body: "Hi" });
      await clock.settle();
      expect((await two.messages.get(id)).status).toBe(status);
    },
  );

  it("apply the receipts that came before the answers which commit together, each its own", async () => {
    const { clock, started } = world();
    const { promise: isAnswered, answer } = held<void>();
    const line = carrier({
      async send({ body }) {
        await isAnswered;
        return { outcome: "accepted", provider_message_id: `p-${body}` };
      },
    });
    const one = await started(open().connect(), { transports: [line] });
    for (const n of [1, 2, 3]) await one.messages.send({ to: `+1500555000${n}`, body: `${n}` });
    await clock.settle();
    const at = clock.now();
    const error = { code: "unreachable", message: "Switched off." } as const;
    await Promise.all([
      line.sink().receipt({ provider_message_id: "p-1" }, { status: "delivered", at }),
      line.sink().receipt({ provider_message_id: "p-3" }, { status: "undelivered", at, error }),
      line.sink().receipt({ provider_message_id: "p-9" }, { status: "delivered", at }),
    ]);
    answer();
    await clock.settle();
    const { data } = await one.messages.list();
    expect(Object.fromEntries(data.map(({ body, status }) => [body, status]))).toEqual({
      1: "delivered",
      2: "sent",
      3: "undelivered",
    });
  });

  it.each(["by the carrier", "by the sandbox's bench"])(
    "with a lost answer that are reported as on their way, %s, become unconfirmed",
    async (by) => {
      const { clock, started } = world();
      const line = carrier({
        send: () => lost,
        receipts: { timeout_ms: receiptsMs, lookups_ms: [] },
      });
      const one = await started(open().connect(), { transports: [line] });
      const { id } = await one.messages.send({ to: "+15005550001", body: "Hi" });
      await clock.settle();
      if (by === "by the carrier") await line.report("sent");
      else await one.sandbox.receipts(id, [{ status: "sent" }]);
      expect((await one.messages.get(id)).status).toBe("sent");
      await clock.advance(10 * receiptsMs);
      expect((await one.messages.get(id)).status).toBe("unconfirmed");
      expect(line.calls).toHaveLength(1);
    },
  );

  it("are counted by day, channel and status, with their billed segments", async () => {
    const { clock, engine } = world();
    const one = engine(open().connect(), { transports: [carrier()] });
    const { account } = await one.accounts.create({ name: "usage" });
    const handle = one.account(account.id);
    const to = "+15005550001";
    await clock.advanceTo("2026-01-31T23:59:58.000Z");
    await one.start();
    await handle.messages.send({ to, body: "x".repeat(161) });
    await handle.messages.send({ to, body: "", media: [{ url: "https://example.com/a.png" }] });
    await handle.sandbox.inbound({ from: to, body: "Hi" });
    await handle.messages.send({ to, body: "later", send_at: "2026-02-01T00:00:00.000Z" });
    await clock.advance(10_000);
    const { data } = await handle.usage();
    const day = "2026-01-31";
    const next = "2026-02-01";
    const byText = (a: object, b: object): number =>
      JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
    expect(data.toSorted(byText)).toEqual(
      [
        { day, channel: "sms", status: "queued", messages: 1, segments: 2 },
        { day, channel: "sms", status: "sending", messages: 1, segments: 2 },
        { day, channel: "sms", status: "sent", messages: 1, segments: 2 },
        { day, channel: "mms", status: "queued", messages: 1, segments: 0 },
        { day, channel: "mms", status: "sending", messages: 1, segments: 0 },
        { day, channel: "mms", status: "sent", messages: 1, segments: 0 },
        { day, channel: "sms", status: "received", messages: 1, segments: 1 },
        { day, channel: "sms", status: "scheduled", messages: 1, segments: 1 },
        { day: next, channel: "sms", status: "queued", messages: 1, segments: 1 },
        { day: next, channel: "sms", status: "sending", messages: 1, segments: 1 },
        { day: next, channel: "sms", status: "sent", messages: 1, segments: 1 },
      ].toSorted(byText),
    );
    const days = async (from: string, to_: string): Promise<Set<string>> =>
      new Set((await handle.usage({ from, to: to_ })).data.map((each) => each.day));
    expect(await days(day, day)).toEqual(new Set([day]));
    expect(await days(next, next)).toEqual(new Set([next]));
    expect(await days("2025-12-01", "2026-01-30")).toEqual(new Set());
    await expect(handle.usage({ from: next, to: day })).rejects.toMatchObject({
      code: "validation_failed",
    });
  });
});
