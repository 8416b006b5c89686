import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { carrierError } from "../../src/messages/attempts/carrier-reports.ts";
import { join, type CarrierState, type Evidence } from "../../src/messages/attempts/evidence.ts";
import { carrierErrorCodes } from "../../src/ports/carrier-errors.ts";

const ranks = ["sent", "unconfirmed", "undelivered", "delivered", "read"] as const;

/** Few distinct times and codes, so that ties are common. */
const evidence: fc.Arbitrary<Evidence> = fc
  .record({
    status: fc.constantFrom(...ranks),
    at: fc.integer({ min: 1, max: 6 }),
    code: fc.constantFrom(...carrierErrorCodes.slice(0, 3)),
    provider_code: fc.constantFrom("30003", "30007"),
    permanent: fc.boolean(),
  })
  .map(({ status, at, code, provider_code, permanent }) =>
    status === "undelivered"
      ? { status, at, error: carrierError({ code, message: "no", provider_code }, permanent) }
      : { status, at, error: null },
  );
/** Receipts of one instant that differ only in their error or its text. */
const tied: fc.Arbitrary<Evidence> = fc
  .record({
    code: fc.constantFrom(...carrierErrorCodes.slice(0, 2)),
    message: fc.constantFrom("no", "never"),
    provider_code: fc.constantFrom("30003", "30007"),
    permanent: fc.boolean(),
    stage: fc.constantFrom("carrier" as const, "handset" as const),
  })
  .map(({ permanent, stage, ...reason }) => ({
    status: "undelivered",
    at: 3,
    error: { ...carrierError(reason, permanent), stage },
  }));
const history = fc.oneof(
  fc.array(evidence, { minLength: 1, maxLength: 8 }),
  fc.array(tied, { minLength: 1, maxLength: 8 }),
);

const all = (list: readonly Evidence[]): CarrierState => {
  const [first, ...rest] = list;
  if (first === undefined) throw new Error("no evidence");
  return rest.reduce<CarrierState>(
    (known, next) => join(known, next).state,
    join(null, first).state,
  );
};
const shuffled = <T>(list: readonly T[]): fc.Arbitrary<T[]> =>
  fc.shuffledSubarray([...list], { minLength: list.length, maxLength: list.length });

describe("the evidence of a sent message", () => {
  it("gives the same result in every order and with repetitions", () => {
    const told = history.chain((list) =>
      fc.tuple(
        fc.constant(list),
        fc
          .array(fc.constantFrom(...list), { maxLength: 6 })
          .chain((again) => shuffled([...list, ...again])),
      ),
    );
    fc.assert(
      fc.property(told, ([list, other]) => {
        expect(all(other)).toEqual(all(list));
      }),
      { numRuns: 500 },
    );
  });

  it("never lowers the rank, and its times never move later", () => {
    fc.assert(
      fc.property(history, evidence, (list, next) => {
        const before = all(list);
        const { state: after } = join(before, next);
        expect(
          ranks.indexOf(after.status),
          `Evidence never lowers the rank of a status: ${before.status}, then ${after.status}.`,
        ).toBeGreaterThanOrEqual(ranks.indexOf(before.status));
        for (const time of ["sent_at", "delivered_at", "read_at"] as const) {
          if (before[time] !== null) {
            expect(after[time], `Evidence never moves ${time} later.`).toBeLessThanOrEqual(
              before[time],
            );
          }
        }
      }),
    );
  });

  it("marks a receipt as applied exactly if it changed something", () => {
    fc.assert(
      fc.property(history, evidence, (list, next) => {
        const before = all(list);
        const joined = join(before, next);
        expect(
          joined.ignored_reason === null,
          "A receipt is applied exactly if it changed something.",
        ).toBe(JSON.stringify(joined.state) !== JSON.stringify(before));
      }),
    );
  });

  it("takes status and error from the highest-ranked evidence, ties by the carrier's time and code", () => {
    fc.assert(
      fc.property(history, (list) => {
        const { status, at, error } = all(list);
        const strongest = ranks[Math.max(...list.map((each) => ranks.indexOf(each.status)))];
        const peers = list.filter((each) => each.status === strongest);
        const first = peers.filter((each) => each.at === Math.min(...peers.map((peer) => peer.at)));
        expect(status, "The status is that of the strongest evidence.").toBe(strongest);
        expect(at, "The time is that of the earliest of the strongest evidence.").toBe(
          first[0]?.at,
        );
        expect(
          first.every((each) => (error?.code ?? "") <= (each.error?.code ?? "")),
          `The error has the first code of the strongest evidence: ${error?.code}.`,
        ).toBe(true);
        expect(
          first.map((each) => each.error?.code),
          "The error is one that the strongest evidence has.",
        ).toContain(error?.code);
      }),
    );
  });

  it("can turn from undelivered to delivered and not back", () => {
    const error = carrierError({ code: "unreachable", message: "" }, false);
    const no = { status: "undelivered", at: 1, error } as const;
    const yes = { status: "delivered", at: 2, error: null } as const;
    expect(all([no, yes])).toMatchObject({ status: "delivered", error: null, delivered_at: 2 });
    expect(join(all([yes]), no)).toMatchObject({
      state: { status: "delivered", sent_at: 1 },
      ignored_reason: null,
    });
    expect(join(all([yes]), { ...no, at: 3 })).toMatchObject({
      ignored_reason: "outranked",
    });
  });

  it("distinguishes a repeated receipt from a later one of the same kind", () => {
    const known = all([{ status: "delivered", at: 5, error: null }]);
    expect(join(known, { status: "delivered", at: 5, error: null })).toMatchObject({
      ignored_reason: "duplicate",
    });
    expect(join(known, { status: "delivered", at: 6, error: null })).toMatchObject({
      ignored_reason: "already_known",
    });
  });

  it("implies sending and delivery from later statuses, and nothing from earlier ones", () => {
    const times = ranks.map((status) => {
      const error = carrierError({ code: "unreachable", message: "" }, false);
      const { sent_at, delivered_at, read_at } = all([
        status === "undelivered" ? { status, at: 9, error } : { status, at: 9, error: null },
      ]);
      return [status, sent_at, delivered_at, read_at];
    });
    expect(times).toEqual([
      ["sent", 9, null, null],
      ["unconfirmed", null, null, null],
      ["undelivered", 9, null, null],
      ["delivered", 9, 9, null],
      ["read", 9, 9, 9],
    ]);
  });
});
