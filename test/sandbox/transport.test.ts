import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { virtualClock } from "../../adapters/testing/simulated/virtual-clock.ts";
import { sandbox } from "../../adapters/transport/sandbox/index.ts";
import type { Channel } from "../../src/kernel/channels.ts";
import type { AttemptId, MessageId } from "../../src/kernel/ids.ts";
import { silent } from "../../src/ports/logger.ts";
import type {
  Attempt,
  InboundMessage,
  LookupAnswer,
  OutboundMessage,
  Receipt,
  ReceiptSubject,
  SendAnswer,
  Transport,
} from "../../src/ports/transport.ts";

const never = new AbortController().signal;
const number = (last: number): string => `+1500555${String(last).padStart(4, "0")}`;

const messageTo = (to: string, channel: Channel = "sms"): OutboundMessage => ({
  message_id: "msg_01J00000000000000000000000" satisfies MessageId,
  account_id: "acct_01J00000000000000000000000",
  mode: "sandbox",
  channel,
  from: "+15005559999",
  to,
  body: "Hello",
  media: channel === "mms" ? [{ url: "https://example.com/cat.png" }] : [],
});

const attemptId = (count: number): AttemptId => `att_01J${String(count).padStart(23, "0")}`;

/** A started sandbox transport, and its callbacks with their times. */
async function started() {
  const clock = virtualClock();
  const begun = clock.now();
  const receipts: (Receipt & { subject: ReceiptSubject; came: number })[] = [];
  const inbound: (InboundMessage & { account_id: string | undefined; came: number })[] = [];
  const context = {
    clock,
    logger: silent,
    sink: {
      async receipt(subject: ReceiptSubject, receipt: Receipt) {
        receipts.push({ ...receipt, subject, at: receipt.at - begun, came: clock.now() - begun });
      },
      async inbound(message: InboundMessage, account_id?: string) {
        inbound.push({ ...message, account_id, at: message.at - begun, came: clock.now() - begun });
      },
    },
  };
  const transport = sandbox();
  await transport.start?.(context);
  let count = 0;
  const begin = (attempt: number): Attempt => {
    count += 1;
    return { attempt_id: attemptId(count), number: attempt, started_at: clock.now() };
  };
  const send = (to: string, attempt = 1, channel: Channel = "sms"): Promise<SendAnswer> =>
    transport.send(messageTo(to, channel), { ...begin(attempt), signal: never });
  return { clock, begun, context, transport, receipts, inbound, begin, send };
}

const lookUp = async (
  transport: Transport,
  to: string,
  attempt: Attempt,
  provider_message_id: string | null,
): Promise<LookupAnswer> =>
  (await transport.lookup?.(messageTo(to), { ...attempt, provider_message_id, signal: never })) ?? {
    outcome: "unknown",
  };

const told = (list: readonly { status: string; came: number }[]) =>
  list.map(({ status, came }) => [status, came]);

describe("a message to a sandbox number", () => {
  it.each([
    [
      "0001 is delivered",
      1,
      [
        ["sent", 100],
        ["delivered", 400],
      ],
    ],
    [
      "0002 is delivered after 30 s",
      2,
      [
        ["sent", 100],
        ["delivered", 30_000],
      ],
    ],
    [
      "0003 is undelivered",
      3,
      [
        ["sent", 100],
        ["undelivered", 400],
      ],
    ],
    [
      "0004 is undelivered",
      4,
      [
        ["sent", 100],
        ["undelivered", 400],
      ],
    ],
    ["0009 never gets a receipt", 9, []],
    [
      "0010 has each receipt twice",
      10,
      [
        ["sent", 100],
        ["sent", 100],
        ["delivered", 400],
        ["delivered", 400],
      ],
    ],
    [
      "0011 has its receipts in reverse",
      11,
      [
        ["delivered", 400],
        ["sent", 600],
      ],
    ],
    [
      "0017 is read",
      17,
      [
        ["sent", 100],
        ["delivered", 400],
        ["read", 1_200],
      ],
    ],
    [
      "0018 is delivered as SMS",
      18,
      [
        ["sent", 100],
        ["delivered", 400],
      ],
    ],
    [
      "0019 is contradicted late",
      19,
      [
        ["sent", 100],
        ["delivered", 400],
        ["undelivered", 3_000],
      ],
    ],
    [
      "of another number is delivered",
      4_711,
      [
        ["sent", 100],
        ["delivered", 400],
      ],
    ],
  ])("%s", async (_name, last, expected) => {
    const { send, clock, receipts } = await started();
    const answer = await send(number(last));
    await clock.advance(3_600_000);
    expect(told(receipts)).toEqual(expected);
    const id = answer.outcome === "accepted" ? answer.provider_message_id : "not accepted";
    for (const { subject } of receipts) expect(subject).toEqual({ provider_message_id: id });
  });

  it("0003 and 0004 report an error code", async () => {
    const { send, clock, receipts } = await started();
    await send(number(3));
    await send(number(4));
    await clock.advance(1_000);
    expect(receipts.flatMap(({ error }) => error?.code ?? [])).toEqual(["unreachable", "filtered"]);
  });

  it("0011 gets receipts in reverse order with correct times", async () => {
    const { send, clock, receipts } = await started();
    await send(number(11));
    await clock.advance(1_000);
    expect(receipts.map(({ status, at }) => [status, at])).toEqual([
      ["delivered", 400],
      ["sent", 100],
    ]);
  });

  it.each([
    ["0005 fails: no such destination", 5, "sms", "invalid_destination"],
    ["0006 fails: a landline", 6, "sms", "landline"],
    ["0018 refuses MMS", 18, "mms", "unsupported_channel"],
  ] as const)("%s", async (_name, last, channel, code) => {
    const { send, clock, receipts } = await started();
    const answer = await send(number(last), 1, channel);
    expect(answer).toMatchObject({ outcome: "rejected", permanent: true, error: { code } });
    await clock.advance(3_600_000);
    expect(receipts).toEqual([]);
  });

  it("0007 is throttled twice with a Retry-After, then accepted", async () => {
    const { send } = await started();
    for (const attempt of [1, 2]) {
      expect(await send(number(7), attempt)).toMatchObject({
        outcome: "rejected",
        permanent: false,
        retry_after_ms: 2_000,
        error: { code: "throttled" },
      });
    }
    expect((await send(number(7), 3)).outcome).toBe("accepted");
  });

  it("0008 gets three carrier errors that surely sent nothing, then is accepted", async () => {
    const { send, clock, receipts } = await started();
    for (const attempt of [1, 2, 3]) {
      expect(await send(number(8), attempt)).toMatchObject({
        outcome: "rejected",
        permanent: false,
      });
    }
    await clock.advance(3_600_000);
    expect(receipts).toEqual([]);
    expect((await send(number(8), 4)).outcome).toBe("accepted");
  });

  it("0012 gets its receipt before the carrier's answer", async () => {
    const { send, receipts } = await started();
    const answer = send(number(12)).then((each) => ({ ...each, receiptsByThen: receipts.length }));
    expect(await answer).toMatchObject({ outcome: "accepted", receiptsByThen: 1 });
    expect(told(receipts)).toEqual([["delivered", 0]]);
  });

  it("0013 loses its answer, and its receipts have only the attempt's id", async () => {
    const { send, clock, receipts } = await started();
    expect((await send(number(13))).outcome).toBe("ambiguous");
    await clock.advance(1_000);
    expect(told(receipts)).toEqual([
      ["sent", 100],
      ["delivered", 400],
    ]);
    for (const { subject } of receipts) expect(subject).toEqual({ attempt_id: attemptId(1) });
  });

  it("0014 loses its answer, a look-up finds it unsent, and the second attempt is delivered", async () => {
    const { clock, transport, receipts, begin, send } = await started();
    const attempt = begin(1);
    expect(
      (await transport.send(messageTo(number(14)), { ...attempt, signal: never })).outcome,
    ).toBe("ambiguous");
    await clock.advance(60_000);
    expect(receipts).toEqual([]);
    expect(await lookUp(transport, number(14), attempt, null)).toEqual({ outcome: "not_sent" });
    expect((await send(number(14), 2)).outcome).toBe("accepted");
    await clock.advance(1_000);
    expect(receipts.map(({ status }) => status)).toEqual(["sent", "delivered"]);
  });

  it.each([
    ["0015 is answered", 15, "Thanks, I got it!"],
    ["0016 is answered with STOP", 16, "STOP"],
    ["0020 is answered by a bot", 20, "You wrote: Hello"],
  ])("%s after it was delivered, to the sender and its account", async (_name, last, body) => {
    const { send, clock, receipts, inbound } = await started();
    await send(number(last));
    await clock.advance(10_000);
    expect(inbound).toMatchObject([
      {
        body,
        from: number(last),
        to: "+15005559999",
        channel: "sms",
        account_id: "acct_01J00000000000000000000000",
      },
    ]);
    expect(inbound[0]?.came).toBeGreaterThan(
      receipts.find(({ status }) => status === "delivered")?.came ?? Infinity,
    );
  });
});

describe("the simulated carrier", () => {
  it("is stateless: after a restart, a look-up returns exactly the due receipts", async () => {
    const sendable = fc.constantFrom(1, 2, 3, 4, 9, 10, 11, 13, 15, 17, 19);
    await fc.assert(
      fc.asyncProperty(sendable, fc.nat(40_000), async (last, wait) => {
        const { clock, begun, context, transport, receipts, begin } = await started();
        const attempt = begin(1);
        const answer = await transport.send(messageTo(number(last)), { ...attempt, signal: never });
        await transport.stop?.();
        const other = sandbox();
        await other.start?.(context);
        await clock.advance(wait);
        expect(receipts).toEqual([]);

        const undisturbed = await started();
        await undisturbed.send(number(last));
        await undisturbed.clock.advance(100_000);
        const due = undisturbed.receipts
          .filter(({ at }) => at <= wait)
          .map(({ status, at }) => `${status} ${at}`);

        const id = answer.outcome === "accepted" ? answer.provider_message_id : null;
        const found = await lookUp(other, number(last), attempt, id);
        expect(found).toMatchObject({ outcome: "sent" });
        if (found.outcome !== "sent") return;
        expect(new Set(found.receipts.map(({ status, at }) => `${status} ${at - begun}`))).toEqual(
          new Set(due),
        );
        if (id !== null) {
          expect(
            found.provider_message_id,
            "A look-up finds the message by the id that the answer had.",
          ).toBe(id);
        }
      }),
      { numRuns: 50 },
    );
  });

  it("gives every attempt a unique provider id, also at the same time to the same number", async () => {
    const { send } = await started();
    const answers = await Promise.all(Array.from({ length: 50 }, () => send(number(1))));
    expect(
      new Set(answers.map((each) => (each.outcome === "accepted" ? each.provider_message_id : "")))
        .size,
    ).toBe(50);
  });

  it("does not know another carrier's id", async () => {
    const { transport, begin } = await started();
    expect(await lookUp(transport, number(1), begin(1), "SM123")).toEqual({ outcome: "unknown" });
  });

  it("delivers nothing and has no timers once stopped, and can start again", async () => {
    const { send, clock, context, transport, receipts, inbound } = await started();
    await send(number(2));
    await send(number(20));
    await transport.stop?.();
    expect(clock.nextWakeAt).toBeUndefined();
    await clock.advance(60_000);
    expect([receipts, inbound]).toEqual([[], []]);
    expect(await send(number(1))).toMatchObject({ outcome: "rejected", permanent: false });

    await transport.start?.(context);
    await send(number(1));
    await clock.advance(1_000);
    expect(receipts.map(({ status }) => status)).toEqual(["sent", "delivered"]);
  });

  it("continues if a receipt is not accepted, and logs the error like every other", async () => {
    const { clock, context, receipts, begin } = await started();
    let first = true;
    const warnings: object[] = [];
    const transport = sandbox();
    await transport.start?.({
      ...context,
      logger: { ...silent, warn: (facts) => void warnings.push(facts) },
      sink: {
        ...context.sink,
        async receipt(subject, receipt) {
          if (first) {
            first = false;
            throw new Error("The storage is away.");
          }
          await context.sink.receipt(subject, receipt);
        },
      },
    });
    await transport.send(messageTo(number(1)), { ...begin(1), signal: never });
    await clock.advance(1_000);
    expect(receipts.map(({ status }) => status)).toEqual(["delivered"]);
    expect(warnings).toEqual([{ transport: "sandbox", err: new Error("The storage is away.") }]);
  });

  it("lists its twenty numbers", () => {
    const { test_numbers = [] } = sandbox();
    const expected = Array.from({ length: 20 }, (_, index) => number(index + 1));
    expect(test_numbers.map((each) => each.number)).toEqual(expected);
  });
});
