import { validateHeaderName, validateHeaderValue } from "node:http";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { headerLimits, headerProblems } from "../../src/webhooks/headers.ts";
import { anyCharacter } from "../support/any-character.ts";
import { runs } from "../support/runs.ts";

const codes = (headers: Record<string, string>) =>
  headerProblems(headers).map(({ name, code }) => ({ name, code }));

describe("an endpoint's own headers", () => {
  test.each<[Record<string, string>]>([
    [{}],
    [{ Authorization: "Bearer abc.def", "X-Tenant": "7", "user-agent": "shop/1" }],
    [{ "x-words": 'two words, "quoted"' }],
  ])("may be %j", (headers) => {
    expect(codes(headers)).toEqual([]);
  });

  test.each([
    "Host",
    "content-length",
    "Content-Type",
    "content-encoding",
    "Transfer-Encoding",
    "connection",
    "Keep-Alive",
    "TE",
    "trailer",
    "upgrade",
    "Expect",
    "accept-encoding",
    "webhook-id",
    "Webhook-Signature",
    "webhook-anything",
    "proxy-authorization",
  ])("may not be %s", (name) => {
    expect(codes({ [name]: "1" })).toEqual([{ name, code: "reserved" }]);
  });

  test.each([
    ["a line break", "a\r\nwebhook-id: b"],
    ["a line feed", "a\nb"],
    ["a null", "a\0"],
    ["a letter beyond ASCII", "é"],
    ["a blank at the end", "a "],
    ["nothing", ""],
  ])("may not contain %s", (_, value) => {
    expect(codes({ "x-own": value })).toEqual([{ name: "x-own", code: "invalid_value" }]);
  });

  test("have token names that are unique regardless of case", () => {
    expect(codes({ "a b": "1", "": "1", "a:": "1" }).map(({ code }) => code)).toEqual(
      Array(3).fill("invalid_name"),
    );
    expect(codes({ "x-own": "1", "X-OWN": "2" })).toEqual([{ name: "X-OWN", code: "duplicate" }]);
  });

  test("are bounded in number and length", () => {
    const many = (count: number, length: number) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, i) => [
          `x-${String(i).padStart(2, "0")}`,
          "a".repeat(length),
        ]),
      );
    expect(codes(many(headerLimits.count, 10))).toEqual([]);
    expect(codes(many(1, headerLimits.value))).toEqual([]);
    expect(codes(many(1, headerLimits.value + 1))).toEqual([{ name: "x-00", code: "too_long" }]);
    expect(codes(many(9, headerLimits.value))).toEqual([{ name: undefined, code: "too_long" }]);
  });

  test("that are accepted can be sent unchanged, on one line", () => {
    const headers = fc.dictionary(
      fc.string({ maxLength: 30 }),
      fc.string({ unit: anyCharacter, maxLength: 30 }),
      {
        maxKeys: 3,
      },
    );
    fc.assert(
      fc.property(headers, (given) => {
        fc.pre(headerProblems(given).length === 0);
        for (const [name, value] of Object.entries(given)) {
          validateHeaderName(name);
          validateHeaderValue(name, value);
          expect(`${name}: ${value}`, "No valid header has a line break.").not.toMatch(/[\r\n\0]/);
        }
      }),
      { numRuns: runs(300) },
    );
  });
});
