import { createSecretKey } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../src/operations/canonical-json.ts";
import { fingerprintOf } from "../../src/operations/execution/fingerprint.ts";

const secret = createSecretKey(new Uint8Array(32).fill(7));
const shuffle = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shuffle);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, member]) => [name, shuffle(member)]),
  );
};
const json = fc.jsonValue({ maxDepth: 4 });

describe("the fingerprint of a request", () => {
  it("does not depend on the order of members or on the idempotency key", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), json), fc.string(), (input, idempotency_key) => {
        const other = { ...(shuffle(input) as object), idempotency_key };
        expect(
          fingerprintOf(secret, "messages.send", other),
          "The order of members and the idempotency key do not change the fingerprint.",
        ).toBe(fingerprintOf(secret, "messages.send", input));
      }),
    );
  });

  it("is equal only for equal inputs", () => {
    const near = fc.oneof(
      json,
      fc.constantFrom(null, 0, "", [], {}, "0", ["0"], { 0: "0" }, [null], { a: null }, [[]], {
        "": 0,
      }),
    );
    const pair = fc.oneof(
      fc.tuple(near, near),
      near.map((value) => [value, shuffle(value)] as const),
    );
    fc.assert(
      fc.property(pair, ([a, b]) => {
        const equal = isDeepStrictEqual(
          JSON.parse(JSON.stringify(a)),
          JSON.parse(JSON.stringify(b)),
        );
        for (const inputs of [[{ value: a }, { value: b }] as const, [a, b] as const]) {
          const [one, other] = inputs.map((input) => fingerprintOf(secret, "messages.send", input));
          expect(one === other, "Two inputs have one fingerprint exactly if they are equal.").toBe(
            equal,
          );
        }
      }),
      { numRuns: 500 },
    );
  });

  it("loses nothing: its canonical form parses back to the input", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it("differs for a number that is not finite, as in an item of a batch", () => {
    const texts = ["1e400", "-1e400", '"Infinity"', "null", "0"];
    const inputs = texts.map((text): unknown =>
      JSON.parse(`{"messages":[{"ttl_seconds":${text}}]}`),
    );
    const prints = inputs.map((input) => fingerprintOf(secret, "messages.batch", input));
    expect(new Set(prints).size).toBe(texts.length);
  });

  it("differs for another operation, another secret and a nested idempotency_key", () => {
    const of = (operation: string, input: unknown, key = secret) =>
      fingerprintOf(key, operation, input);
    const input = { to: "+15005550001", metadata: { a: "b" } };
    expect(of("messages.preview", input)).not.toBe(of("messages.send", input));
    expect(of("messages.send", input, createSecretKey(new Uint8Array(32)))).not.toBe(
      of("messages.send", input),
    );
    expect(of("messages.send", { ...input, metadata: { a: "b", idempotency_key: "k" } })).not.toBe(
      of("messages.send", input),
    );
  });

  it("counts an undefined member as absent", () => {
    expect(canonicalJson({ b: undefined, a: [undefined, 1] })).toBe('{"a":[null,1]}');
  });

  it("matches the examples of RFC 8785", () => {
    const input: unknown = JSON.parse(
      '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],' +
        '"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}',
    );
    expect(canonicalJson(input)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
    expect(
      canonicalJson({
        "\u20ac": 1,
        "\r": 2,
        "\ufb33": 3,
        "1": 4,
        "\u{1f600}": 5,
        "\u0080": 6,
        "\u00f6": 7,
      }),
    ).toBe('{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\u{1f600}":5,"\ufb33":3}');
  });
});
