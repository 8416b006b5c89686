/** API2:2023. Only a valid key or token of the right kind lets a request in. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { seededRandom } from "../../adapters/testing/index.ts";
import { drawKey } from "../../src/accounts/keys/key-format.ts";
import type { Guarded } from "../../src/operations/api-route.ts";
import { call, jsonOf } from "../api/call.ts";
import { guardedRoutes, requestOf, titled } from "./examples.ts";
import { newOwner, type Owner } from "./owner.ts";
import { startedWorld, type SecurityWorld } from "./world.ts";

interface Attempt {
  readonly what: string;
  /** The `Authorization` headers. */
  readonly sent: readonly string[];
  readonly query?: string;
  readonly headers?: readonly string[];
  readonly code: string;
}

let there: SecurityWorld;
let own: Owner;
let attempts: { readonly keys: readonly Attempt[]; readonly tokens: readonly Attempt[] };
beforeAll(async () => {
  there = await startedWorld({ webchat: { sessionHours: 1 } });
  own = await newOwner(there);
  const expired = await newOwner(there);
  const { apiKeys } = there.engine.account(own.scope.account_id, { mode: own.scope.mode });
  const make = async (expires_at?: string): Promise<{ id: string; secret: string }> => {
    const { id, secret } = await apiKeys.create({ name: "x", ...(expires_at && { expires_at }) });
    return { id, secret };
  };
  const short = await make(new Date(there.clock.now() + 60_000).toISOString());
  const [revoked, rotated, grace] = [await make(), await make(), await make()];
  await apiKeys.revoke(revoked.id);
  await apiKeys.rotate(rotated.id, { grace_seconds: 0 });
  await apiKeys.rotate(grace.id, { grace_seconds: 60 });
  await there.clock.advance(3_600_000);
  own = await newOwner(there);
  const other = await newOwner(there);
  const { secret, token } = own;
  const random = seededRandom(2);
  const unknown = drawKey("sandbox", random).text;
  const wrongSum = secret.slice(0, -1) + (secret.endsWith("0") ? "1" : "0");
  const shared: readonly Attempt[] = [
    { what: "an empty header", sent: [""], code: "none" },
    { what: "another scheme", sent: [`Basic ${btoa(`${secret}:`)}`], code: "none" },
    { what: "the scheme alone", sent: ["Bearer"], code: "invalid" },
    { what: "garbage", sent: ["Bearer \u0000\u00ff"], code: "invalid" },
    { what: "a list of keys", sent: [`Bearer ${secret}, Bearer ${secret}`], code: "invalid" },
    { what: "two headers", sent: [`Bearer ${secret}`, `Bearer ${secret}`], code: "invalid" },
    { what: "a very long key", sent: [`Bearer ${"k".repeat(4_000)}`], code: "invalid" },
  ];
  attempts = {
    keys: [
      { what: "nothing", sent: [], code: "missing_api_key" },
      ...shared.map((each) => ({ ...each, code: codeOf(each.code, "api_key", "missing") })),
      { what: "a mistyped key", sent: [`Bearer ${wrongSum}`], code: "invalid_api_key" },
      { what: "an unknown key", sent: [`Bearer ${unknown}`], code: "invalid_api_key" },
      {
        what: "the key of the other mode",
        sent: [`Bearer ${secret.replace("_test_", "_live_")}`],
        code: "invalid_api_key",
      },
      { what: "a revoked key", sent: [`Bearer ${revoked.secret}`], code: "invalid_api_key" },
      { what: "an expired key", sent: [`Bearer ${short.secret}`], code: "expired_api_key" },
      { what: "a replaced secret", sent: [`Bearer ${rotated.secret}`], code: "invalid_api_key" },
      {
        what: "a replaced secret after its grace time",
        sent: [`Bearer ${grace.secret}`],
        code: "expired_api_key",
      },
      { what: "a visitor's token", sent: [`Bearer ${token}`], code: "invalid_api_key" },
      {
        what: "a key in the query",
        sent: [],
        query: `api_key=${secret}&access_token=${secret}&token=${secret}&key=${secret}`,
        code: "missing_api_key",
      },
      {
        what: "a key in other headers",
        sent: [],
        headers: ["X-Api-Key", secret, "Cookie", `key=${secret}`, "X-Authorization", secret],
        code: "missing_api_key",
      },
    ],
    tokens: [
      { what: "nothing", sent: [], code: "missing_visitor_token" },
      ...shared.map((each) => ({ ...each, code: "invalid_visitor_token" })),
      { what: "an API key", sent: [`Bearer ${secret}`], code: "invalid_visitor_token" },
      {
        what: "the token of another session",
        sent: [`Bearer ${other.token}`],
        code: "invalid_visitor_token",
      },
      {
        what: "the token of an expired session",
        sent: [`Bearer ${expired.token}`],
        code: "invalid_visitor_token",
      },
      {
        what: "a token of the other mode",
        sent: [`Bearer ${token.replace(".sandbox.", ".live.")}`],
        code: "invalid_visitor_token",
      },
      {
        what: "a token that lasts longer",
        sent: [`Bearer ${token.replace(/\.(\w+)(?=\.[\w-]{43}$)/, ".zzzzzzzz")}`],
        code: "invalid_visitor_token",
      },
      {
        what: "a token in another parameter",
        sent: [],
        query: `access_token=${token}`,
        code: "missing_visitor_token",
      },
    ],
  };
});
afterAll(() => there.stop());

const codeOf = (code: string, kind: string, none: string): string =>
  code === "none" ? `${none}_${kind}` : `${code}_${kind}`;

/** The request with other credentials. Its body is not even looked at. */
async function attempt(
  route: Guarded,
  { sent, query, headers = [] }: Attempt,
): ReturnType<typeof call> {
  const { key: _, body: _body, path, ...request } = requestOf(route, own);
  return call(there.engine.api, {
    ...request,
    path: query === undefined ? path : `${path}${path.includes("?") ? "&" : "?"}${query}`,
    headers: [...sent.flatMap((value) => ["Authorization", value]), ...headers],
    ...(route.method === "GET" ? {} : { body: { nonsense: true } }),
  });
}

describe.each(guardedRoutes.map(titled))("$name", ({ route }) => {
  test("answers 401 to everything but a valid key, and changes nothing", async () => {
    const before = await there.written();
    for (const each of "visitor" in route ? attempts.tokens : attempts.keys) {
      const answer = await attempt(route, each);
      expect([each.what, answer.status, jsonOf(answer)["code"]]).toEqual([
        each.what,
        401,
        each.code,
      ]);
      expect(answer.headers["WWW-Authenticate"]).toMatch(/^Bearer/);
      // A response must not tell how busy the owner of a key is.
      expect(Object.keys(answer.headers)).not.toContain("RateLimit");
      for (const text of each.sent) {
        const secret = text.replace(/^\w+ */, "");
        if (secret.length > 6) expect(JSON.stringify(answer)).not.toContain(secret);
      }
    }
    expect((await there.written()).slice(before.length)).toEqual([]);
  });
});

test("the token of a session that has expired gets its own code", async () => {
  const expired = await newOwner(there);
  await there.clock.advance(3_600_000);
  for (const route of guardedRoutes.filter((each) => "visitor" in each)) {
    const answer = await call(there.engine.api, requestOf(route, expired));
    expect(jsonOf(answer)).toMatchObject({ status: 401, code: "expired_visitor_token" });
  }
});
