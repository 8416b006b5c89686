import { describe, expect, it } from "vitest";
import { bearerKey, visitorToken } from "../../src/api/authentication.ts";
import { challengeOf } from "../../src/api/responses/problem-response.ts";
import { TidingsError } from "../../src/kernel/errors.ts";
import { missingScopes } from "../../src/operations/caller.ts";

function outcome(read: () => string): string {
  try {
    return `got ${read()}`;
  } catch (error) {
    if (!(error instanceof TidingsError)) throw error;
    return error.code;
  }
}

const longest = "k".repeat(256);

describe("an Authorization header", () => {
  it.each([
    ["Bearer abc", "got abc"],
    ["bearer abc", "got abc"],
    ["BEARER   abc", "got abc"],
    ["Bearer a+b/c~d.e-f_1==", "got a+b/c~d.e-f_1=="],
    [`Bearer ${longest}`, `got ${longest}`],
    [`Bearer ${longest}k`, "invalid_api_key"],
    ["Bearer", "invalid_api_key"],
    ["Bearer ", "invalid_api_key"],
    ["Bearer ==", "invalid_api_key"],
    ["Bearer a b", "invalid_api_key"],
    ["Bearer a=b", "invalid_api_key"],
    ["Bearerabc", "missing_api_key"],
    ["Basic abc", "missing_api_key"],
    ["Basic Bearer abc", "missing_api_key"],
    ["", "missing_api_key"],
    [undefined, "missing_api_key"],
  ])("has a valid key, an invalid one or none: %j", (header, expected) => {
    expect(outcome(() => bearerKey(header))).toBe(expected);
  });

  it.each([
    [undefined, "abc", "got abc"],
    ["Bearer abc", undefined, "got abc"],
    ["Bearer abc", "other", "got abc"],
    ["Basic abc", "other", "invalid_visitor_token"],
    ["Basic Bearer abc", undefined, "invalid_visitor_token"],
    ["Bearerabc", undefined, "invalid_visitor_token"],
    ["", undefined, "invalid_visitor_token"],
    [undefined, "", "invalid_visitor_token"],
    [undefined, ["abc", "other"], "invalid_visitor_token"],
    [undefined, undefined, "missing_visitor_token"],
  ])("takes precedence over a visitor's token in the query: %j, %j", (header, query, expected) => {
    expect(outcome(() => visitorToken(header, query))).toBe(expected);
  });
});

it("only a 401 has a WWW-Authenticate header, for a missing or invalid token", () => {
  const challenge = (code: ConstructorParameters<typeof TidingsError>[0]) =>
    challengeOf(new TidingsError(code, ""));
  expect(challenge("missing_api_key")).toBe("Bearer");
  expect(challenge("expired_api_key")).toBe('Bearer error="invalid_token"');
  expect(challenge("insufficient_scope")).toBeUndefined();
});

it("a key has only the scopes that it was given", () => {
  expect(missingScopes(["messages:read", "events:read"], ["events:read", "agents:read"])).toEqual([
    "messages:read",
  ]);
});
