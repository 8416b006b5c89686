import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { messageStatuses } from "../../src/kernel/message-status.ts";
import { firstFollowUpAt, nextFollowUpAt } from "../../src/messages/attempts/follow-up-times.ts";
import type { AttemptRow, MessageRow } from "../../src/messages/rows.ts";
import type { FactsByTransport } from "../../src/operations/transport-facts.ts";
import type { LookupAnswer, LookupContext } from "../../src/ports/transport.ts";
import { accepted, carrier, lost, providerId, type Carrier } from "../support/engines/carrier.ts";
import { hello } from "../support/engines/over-two.ts";
import { stopped, world } from "../support/engines/world.ts";

const receipts = { lookups_ms: [60_000], timeout_ms: 600_000 };
const factsByTransport = new Map([
  ["carrier", { canLookUp: true, receipts }],
]) as unknown as FactsByTransport;
const attempt = {
  transport: "carrier",
  outcome: "accepted",
  lookups: 1,
  started_at: 0,
  leased_until: 0,
} as AttemptRow;

it("an accepted attempt is followed up only while its message is sent", () => {
  for (const status of messageStatuses) {
    const at = firstFollowUpAt(attempt, { status } as MessageRow, factsByTransport, 1_000);
    expect([status, at !== undefined]).toEqual([status, status === "sent"]);
  }
});

it("while a message is ambiguous, only its lost attempts are looked up", () => {
  for (const outcome of ["rejected", "undelivered", "ambiguous"] as const) {
    const at = nextFollowUpAt({ ...attempt, outcome }, "ambiguous", factsByTransport, 1_000);
    expect([outcome, at !== undefined]).toEqual([outcome, outcome === "ambiguous"]);
  }
});

it("a look-up waits for its time after the clock was set back", () => {
  for (const now of [-3_600_000, -1, 0, 59_999]) {
    expect(nextFollowUpAt(attempt, "sent", factsByTransport, now)).toBe(60_000);
  }
});

describe("the look-ups of a message without a final receipt", () => {
  const minute = 60_000;
  const lookups_ms = [10, 30, 60, 120, 240].map((each) => each * minute);
  const facts = { receipts: { timeout_ms: 600 * minute, lookups_ms } };
  /** The last one is made before the message becomes `unconfirmed`. */
  const times = [10, 30, 60, 120, 240, 600];
  const sent = (of: LookupContext): LookupAnswer => ({
    outcome: "sent",
    provider_message_id: providerId(of),
    receipts: [],
  });
  const minutesOf = ({ calls, lookups }: Carrier): readonly number[] =>
    lookups.map(({ at }) => (at - (calls[0]?.at ?? 0)) / minute);

  it("end when the engine stops, which does not wait for them", async () => {
    const { clock, started } = world();
    let hung: AbortSignal | undefined;
    const line = carrier({
      ...facts,
      lookup: (_, { signal }) => {
        hung = signal;
        return new Promise(() => {});
      },
    });
    const one = await started(memory(), { transports: [line] });
    await one.messages.send(hello);
    await clock.advance(10 * minute);
    expect(hung?.aborted).toBe(false);
    const begun = clock.now();
    await stopped(one, clock, 30_000);
    expect(hung?.aborted).toBe(true);
    expect(clock.now() - begun).toBeLessThan(1_000);
  });

  it("come at the transport's times, also after look-ups that found nothing", async () => {
    const { clock, started } = world();
    let unknown = 2;
    const line = carrier({
      ...facts,
      send: () => lost,
      lookup: (_, of) => (unknown-- > 0 ? { outcome: "unknown" } : sent(of)),
    });
    const one = await started(memory(), { transports: [line] });
    const { id } = await one.messages.send(hello);
    await clock.advance(5 * minute);
    expect((await one.messages.get(id)).status).toBe("sent");
    const before = line.lookups.length;
    await clock.advance(600 * minute);
    expect(minutesOf(line).slice(before)).toEqual(times);
    expect((await one.messages.get(id)).status).toBe("unconfirmed");
  });

  it("are not made all at once after an outage of all engines", async () => {
    const { clock, started } = world();
    const storage = memory();
    const first = carrier({ ...facts, lookup: (_, of) => sent(of) });
    const one = await started(storage, { transports: [first] });
    const { id } = await one.messages.send(hello);
    await clock.settle();
    await stopped(one, clock);
    await clock.advance(70 * minute);
    const line = carrier({ ...facts, lookup: (_, of) => sent(of) });
    const next = await started(storage, { transports: [line] });
    await clock.advance(minute);
    expect(line.lookups).toHaveLength(1);
    await clock.advance(600 * minute);
    const began = first.calls[0]?.at ?? 0;
    const minutes = line.lookups.map(({ at }) => Math.round((at - began) / minute));
    expect(minutes).toEqual([70, 120, 240, 600]);
    expect((await next.messages.get(id)).status).toBe("unconfirmed");
  });

  it("are repeated soon if the one after a long outage of all engines finds nothing", async () => {
    const { clock, started } = world();
    const storage = memory();
    const first = carrier({ ...facts, lookup: (_, of) => sent(of) });
    const one = await started(storage, { transports: [first] });
    const { id } = await one.messages.send(hello);
    await clock.settle();
    await stopped(one, clock);
    await clock.advance(300 * minute);
    let unknown = 2;
    const line = carrier({
      ...facts,
      lookup: (_, of) =>
        unknown-- > 0
          ? { outcome: "unknown" }
          : { ...sent(of), receipts: [{ status: "delivered", at: clock.now() }] },
    });
    const next = await started(storage, { transports: [line] });
    await clock.advance(2 * minute);
    expect((await next.messages.get(id)).status).toBe("delivered");
    expect(line.lookups).toHaveLength(3);
  });

  it.each(["before the answer to the call", "and the answer to the call never comes"])(
    "come at the transport's times if the receipt `sent` arrives %s",
    async (when) => {
      const { clock, started } = world();
      const line: Carrier = carrier({
        ...facts,
        async send(_, of) {
          const receipt = { status: "sent", at: clock.now() } as const;
          await line
            .sink()
            .receipt({ attempt_id: of.attempt_id, provider_message_id: providerId(of) }, receipt);
          return when.startsWith("before") ? accepted(of) : new Promise(() => {});
        },
        lookup: (_, of) => sent(of),
      });
      const one = await started(memory(), { transports: [line] });
      const { id } = await one.messages.send(hello);
      await clock.advance(610 * minute);
      expect(minutesOf(line)).toEqual(times);
      expect((await one.messages.get(id)).status).toBe("unconfirmed");
    },
  );
});
