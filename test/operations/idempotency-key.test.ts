import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Caller } from "../../src/operations/caller.ts";
import {
  idempotencyKeyOf,
  isIdempotencyKey,
  stepKey,
  storedKey,
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
  const program: Caller = { type: "key", key_id: "key_1", scopes: [], secret_hash: "" };
  const operator = (id: string): Caller => ({
    type: "operator",
    operator: { id, name: "Anna" },
    may: [],
  });
  const visitor = (session_id: "wcs_0" | "wcs_1"): Caller => ({ type: "visitor", session_id });
  const visitors = fc.constantFrom("wcs_0" as const, "wcs_1" as const).map(visitor);

  /** Texts that resemble parts of stored keys and session ids. */
  const key = fc.oneof(visible, fc.constantFrom("visitor", "0", "1", "wcs_1", "k", "wcs_1/1"));
  const operatorId = fc.oneof(key, fc.string({ minLength: 1 }), fc.constantFrom("a b", "a%20b"));
  const caller = fc.oneof(fc.constant(program), visitors, operatorId.map(operator));
  const step = fc.integer({ min: 0, max: 3 });
  const path = fc.record({ caller, key, steps: fc.array(step, { maxLength: 2 }) });
  interface Path {
    readonly caller: Caller;
    readonly key: string;
    readonly steps: readonly number[];
  }
  const storedPath = ({ caller: by, key: chosen, steps }: Path): string =>
    steps.reduce(stepKey, storedKey(by, chosen));

  it("is the key itself that a program chose", () => {
    fc.assert(
      fc.property(visible, (text) => {
        expect(storedKey(program, text), "A program's key is stored as it is.").toBe(text);
      }),
    );
  });

  it("of a step, operator or visitor can never equal a program's key", () => {
    fc.assert(
      fc.property(path, (one) => {
        const isPrograms = one.caller.type === "key" && one.steps.length === 0;
        expect(
          isIdempotencyKey(storedPath(one)),
          "Only the program's own key can be a program's key.",
        ).toBe(isPrograms);
      }),
    );
  });

  it("is equal only for equal keys", () => {
    const short = fc.constantFrom("visitor", "operator", "0", "1", "wcs_0", "wcs_1");
    const near: typeof path = fc.record({
      caller: fc.oneof(fc.constant(program), visitors, fc.constantFrom("a", "a 0").map(operator)),
      key: short,
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
            { caller: operator("a"), key: "0", steps: [0] },
            { caller: operator("a 0"), key: "0", steps: [] },
          ],
        ],
      },
    );
  });
});
