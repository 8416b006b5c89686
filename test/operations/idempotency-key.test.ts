import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  idempotencyKeyOf,
  isIdempotencyKey,
  storedKey,
  type IdempotencyKey,
} from "../../src/operations/execution/idempotency-key.ts";

const visible = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCodePoint(code)),
  minLength: 1,
  maxLength: 255,
});

describe("an idempotency key", () => {
  it("may be any 1 to 255 visible ASCII characters", () => {
    fc.assert(fc.property(visible, isIdempotencyKey));
    expect(isIdempotencyKey("k".repeat(255))).toBe(true);
    for (const wrong of ["", "k".repeat(256), "a b", "a\n", "é", "\u007f", "\0"]) {
      expect(isIdempotencyKey(wrong)).toBe(false);
      expect(idempotencyKeyOf(wrong)).toBeNull();
    }
  });

  it("is the same bare or quoted in the header", () => {
    fc.assert(
      fc.property(visible, (key) => {
        expect(
          idempotencyKeyOf(`"${key.replaceAll(/["\\]/g, "\\$&")}"`),
          "A quoted key in the header is the key.",
        ).toBe(key);
        if (!key.startsWith('"')) {
          expect(idempotencyKeyOf(key), "A bare key in the header is the key.").toBe(key);
        }
      }),
    );
  });

  it.each(['"', '""', '"open', '"a"b"', '"a\\"', '"a\\n"', '"a b"', '"a";p=1'])(
    "is not %s",
    (header) => {
      expect(idempotencyKeyOf(header)).toBeNull();
    },
  );
});

describe("the stored text of an idempotency key", () => {
  /** Texts that resemble parts of stored keys and session ids. */
  const key = fc.oneof(visible, fc.constantFrom("visitor", "0", "1", "wcs_1", "k", "wcs_1/1"));
  const chosen: fc.Arbitrary<IdempotencyKey> = fc.oneof(
    fc.record({ by: fc.constant("caller" as const), key }),
    fc.record({
      by: fc.constant("visitor" as const),
      session_id: fc.constantFrom("wcs_0" as const, "wcs_1" as const),
      key,
    }),
    fc.record({
      by: fc.constant("operator" as const),
      operator_id: fc.oneof(key, fc.string({ minLength: 1 }), fc.constantFrom("a b", "a%20b")),
      key,
    }),
  );
  const step = fc.integer({ min: 0, max: 3 });
  const path = fc.record({ chosen, steps: fc.array(step, { maxLength: 2 }) });
  const storedPath = ({ chosen: first, steps }: { chosen: IdempotencyKey; steps: number[] }) =>
    steps.reduce((of, n) => storedKey({ by: "step", of, step: n }), storedKey(first));

  it("is the caller's key itself", () => {
    fc.assert(
      fc.property(visible, (text) => {
        expect(storedKey({ by: "caller", key: text }), "A caller's key is stored as it is.").toBe(
          text,
        );
      }),
    );
  });

  it("of a step, operator or visitor can never equal a caller's key", () => {
    fc.assert(
      fc.property(path, (one) => {
        const isCallers = one.chosen.by === "caller" && one.steps.length === 0;
        expect(
          isIdempotencyKey(storedPath(one)),
          "Only the caller's own key can be a caller's key.",
        ).toBe(isCallers);
      }),
    );
  });

  it("is equal only for equal keys", () => {
    const short = fc.constantFrom("visitor", "operator", "0", "1", "wcs_0", "wcs_1");
    const near: typeof path = fc.record({
      chosen: fc.oneof(
        fc.record({ by: fc.constant("caller" as const), key: short }),
        fc.record({
          by: fc.constant("visitor" as const),
          session_id: fc.constantFrom("wcs_0" as const, "wcs_1" as const),
          key: short,
        }),
        fc.record({
          by: fc.constant("operator" as const),
          operator_id: fc.constantFrom("a", "a 0"),
          key: fc.constantFrom("0", "1"),
        }),
      ),
      steps: fc.array(fc.constantFrom(0, 1), { maxLength: 1 }),
    });
    fc.assert(
      fc.property(near, near, (one, other) => {
        const isSame = JSON.stringify(one) === JSON.stringify(other);
        expect(
          storedPath(one) === storedPath(other),
          "Different keys and steps are stored under different keys.",
        ).toBe(isSame);
      }),
      {
        numRuns: 2_000,
        examples: [
          [
            { chosen: { by: "operator", operator_id: "a", key: "0" }, steps: [0] },
            { chosen: { by: "operator", operator_id: "a 0", key: "0" }, steps: [] },
          ],
        ],
      },
    );
  });
});
