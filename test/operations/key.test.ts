import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { idempotencyKeyOf, isIdempotencyKey } from "../../src/operations/idempotency-key.ts";

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
        expect(idempotencyKeyOf(`"${key.replaceAll(/["\\]/g, "\\$&")}"`)).toBe(key);
        if (!key.startsWith('"')) expect(idempotencyKeyOf(key)).toBe(key);
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
