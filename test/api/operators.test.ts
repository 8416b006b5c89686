/** Operators: people who call `/v1` from a page, with the rights that the host gives them. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { OperatorAccess } from "../../src/api/authentication.ts";
import { RequestHandler } from "../../src/api/handler.ts";
import type { ApiHandler, ApiResponse } from "../../src/api/http.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import { defaultLimits } from "../../src/kernel/limits.ts";
import { apiRoutes } from "../../src/modules.ts";
import { keyScopes, type KeyScope } from "../../src/operations/caller.ts";
import { world } from "../support/engines/world.ts";
import { runs } from "../support/runs.ts";
import { call, jsonOf } from "./call.ts";

const phone = "+15005550001";

/** `engine.api` as one operator calls it. */
function operatorApi(engine: MessagingEngine, access: OperatorAccess): ApiHandler {
  const { api } = engine;
  if (!(api instanceof RequestHandler)) throw new TypeError("not the handler of an engine");
  const handle: ApiHandler["handle"] = (request) =>
    api.answer(request, (exchange) => api.respond(exchange, access));
  return { handle };
}

interface Desk {
  readonly engine: MessagingEngine;
  readonly world: ReturnType<typeof world>;
  readonly access: (id?: string, may?: readonly KeyScope[]) => OperatorAccess;
  readonly api: (id?: string, may?: readonly KeyScope[]) => ApiHandler;
}

async function desk(): Promise<Desk> {
  const there = world();
  const engine = there.engine(memory());
  const { account } = await engine.accounts.create({ name: "test" });
  const access: Desk["access"] = (id = "anna", may = keyScopes) => {
    const own: OperatorAccess = {
      scope: { account_id: account.id, mode: "sandbox" },
      operator: { id, name: "Anna" },
      may,
      renew: async () => own,
    };
    return own;
  };
  const api: Desk["api"] = (id, may) => operatorApi(engine, access(id, may));
  return { engine, world: there, access, api };
}

const post = (api: ApiHandler, path: string, body: object, key?: string): Promise<ApiResponse> =>
  call(api, {
    method: "POST",
    path,
    body,
    ...(key === undefined ? {} : { headers: ["Idempotency-Key", key] }),
  });

async function inbound(api: ApiHandler): Promise<string> {
  await post(api, "/v1/sandbox/inbound", { from: phone, body: "Is it ready?" });
  const { data } = jsonOf(await call(api, { path: "/v1/conversations" })) as {
    data: { id: string }[];
  };
  return `/v1/conversations/${data[0]?.id ?? ""}`;
}

describe("an operator", () => {
  it("is the author of replies, notes and messages, and takes the conversation", async () => {
    const { api } = await desk();
    const anna = api("anna");
    const path = await inbound(anna);
    const author = { type: "human", id: "anna" };
    expect(jsonOf(await post(anna, `${path}/notes`, { body: "On it" }))["author"]).toEqual(author);
    expect(jsonOf(await post(anna, `${path}/messages`, { body: "Yes" }))["author"]).toEqual(author);
    const message = { to: phone, body: "Come by" };
    expect(jsonOf(await post(anna, "/v1/messages", message))["author"]).toEqual(author);
    expect(jsonOf(await call(anna, { path }))["assignee"]).toEqual(author);
  });

  it("ends the contact's wait with a message for later, unlike a program", async () => {
    const { api, engine, access, world: there } = await desk();
    const anna = api("anna");
    const path = await inbound(anna);
    const send_at = new Date(there.clock.now() + 60_000).toISOString();
    const later = { to: phone, body: "It is ready from nine.", send_at };
    const waits = async () => jsonOf(await call(anna, { path }))["waiting_since"] !== null;
    await engine.account(access().scope.account_id).messages.send(later);
    expect(await waits()).toBe(true);
    await post(anna, "/v1/messages", later);
    expect(await waits()).toBe(false);
  });

  it("cannot write in another person's name", async () => {
    const { api } = await desk();
    const anna = api("anna");
    const path = await inbound(anna);
    for (const each of ["messages", "notes"]) {
      // The own id is refused too: a page never needs the field.
      for (const author_id of ["ben", "anna"]) {
        const answer = await post(anna, `${path}/${each}`, { body: "Yes", author_id });
        expect(jsonOf(answer)).toMatchObject({
          status: 422,
          errors: [{ pointer: "/author_id", code: "not_allowed" }],
        });
      }
    }
    const notes = jsonOf(await call(anna, { path: `${path}/notes` }));
    expect(notes["data"]).toEqual([]);
  });

  it("shares no idempotency key with other operators, nor with API keys", async () => {
    const { api, engine, access } = await desk();
    const { account_id } = access().scope;
    const { secret } = await engine.account(account_id).apiKeys.create({ name: "shop" });
    const message = { to: phone, body: "Hello" };
    const send = (own: ApiHandler): Promise<ApiResponse> => post(own, "/v1/messages", message, "k");
    const first = await send(api("anna"));
    const again = await send(api("anna"));
    expect(again.body).toBe(first.body);
    expect(again.headers["Idempotent-Replayed"]).toBe("true");
    const byKey = await call(engine.api, {
      method: "POST",
      path: "/v1/messages",
      key: secret,
      body: message,
      headers: ["Idempotency-Key", "k"],
    });
    // Ids with spaces, too, are separate.
    const others = [byKey, await send(api("ben")), await send(api("anna k")), await send(api("k"))];
    const ids = [first, ...others].map((each) => jsonOf(each)["id"]);
    expect(new Set(ids).size).toBe(5);
  });

  it("creates, rotates and revokes only keys that are no wider than the own rights", async () => {
    const { api, engine, access } = await desk();
    const { apiKeys } = engine.account(access().scope.account_id);
    const some = fc.subarray([...keyScopes], { minLength: 1 });
    let number = 0;
    await fc.assert(
      fc.asyncProperty(some, some, fc.boolean(), async (rights, wanted, isExplicit) => {
        const may: KeyScope[] = [...new Set<KeyScope>([...rights, "keys:manage"])];
        // A new person each time, because the rate of each is limited.
        const own = api(`person-${++number}`, may);
        const isWithin = wanted.every((scope) => may.includes(scope));
        const body = { name: "made", ...(isExplicit ? { scopes: wanted } : {}) };
        const made = await post(own, "/v1/api-keys", body);
        expect(made.status, "An operator may give a key only the operator's own scopes.").toBe(
          !isExplicit || isWithin ? 201 : 403,
        );
        if (!isExplicit) expect(new Set(jsonOf(made)["scopes"] as string[])).toEqual(new Set(may));
        const { id } = await apiKeys.create({ name: "target", scopes: wanted });
        const rotated = await post(own, `/v1/api-keys/${id}/rotate`, {});
        expect(
          rotated.status,
          "An operator may rotate only a key without scopes beyond the operator's own.",
        ).toBe(isWithin ? 200 : 403);
        const revoked = await call(own, { method: "DELETE", path: `/v1/api-keys/${id}` });
        expect(
          revoked.status,
          "An operator may revoke only a key without scopes beyond the operator's own.",
        ).toBe(isWithin ? 204 : 403);
      }),
      { numRuns: runs(30) },
    );
  });

  it("is told all scopes that are missing", async () => {
    const { api } = await desk();
    const path = "/v1/conversations/conv_x/messages";
    const answer = await call(api("kim", []), { method: "POST", path });
    expect(jsonOf(answer)["detail"]).toBe(
      "You may not do this. Your application does not give you the scopes conversations:write " +
        "and messages:write.",
    );
  });

  it("gets 403 with the missing scope on every route that needs a scope the host did not give", async () => {
    const { api } = await desk();
    const routes = apiRoutes(defaultLimits).filter((route) => "scopes" in route);
    for (const [number, { method, path, scopes }] of routes.entries()) {
      for (const scope of scopes) {
        const own = api(
          `person-${number}`,
          keyScopes.filter((each) => each !== scope),
        );
        const answer = await call(own, { method, path: path.replaceAll(/:\w+/g, "msg_x") });
        expect(jsonOf(answer)).toMatchObject({
          status: 403,
          code: "insufficient_scope",
          detail: expect.stringContaining(scope) as unknown,
        });
      }
    }
  });

  it("who loses access while a body arrives for longer than 30 seconds does nothing with it", async () => {
    const { engine, world: there, access } = await desk();
    const api = operatorApi(engine, { ...access(), renew: () => Promise.resolve(null) });
    async function* arriving(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('{"name":');
      await there.clock.advance(30_000);
      yield Buffer.from('"Ann"}');
    }
    const headers = ["Content-Type", "application/json"];
    const asked = { method: "POST", path: "/v1/contacts", headers, arriving: arriving() };
    expect(jsonOf(await call(api, asked))).toMatchObject({ status: 401, code: "not_signed_in" });
    expect(
      jsonOf(await call(operatorApi(engine, access()), { path: "/v1/contacts" })),
    ).toMatchObject({ data: [] });
  });

  it("may send 50 requests in a second, and other operators are not affected", async () => {
    const { api, world: there } = await desk();
    const read = async (id: string): Promise<number> =>
      (await call(api(id), { path: "/v1/account" })).status;
    for (let count = 0; count < 50; count++) expect(await read("anna")).toBe(200);
    const refused = await call(api("anna"), { path: "/v1/account" });
    expect([refused.status, refused.headers["Retry-After"]]).toEqual([429, "1"]);
    expect(await read("ben")).toBe(200);
    await there.clock.advance(1_000);
    expect(await read("anna")).toBe(200);
  });

  it("of an account that does not exist gets 404", async () => {
    const { engine, access } = await desk();
    const scope = { account_id: "acct_01JZZZZZZZZZZZZZZZZZZZZZZZ", mode: "sandbox" } as const;
    const answer = await call(operatorApi(engine, { ...access(), scope }), { path: "/v1/account" });
    expect(answer.status).toBe(404);
  });

  it("does not see the other mode of the account", async () => {
    const { engine, access, api } = await desk();
    const path = await inbound(api());
    const { account_id } = access().scope;
    const live = operatorApi(engine, { ...access(), scope: { account_id, mode: "live" } });
    expect((await call(live, { path })).status).toBe(404);
  });
});

interface Followed {
  readonly text: () => string;
  readonly isOver: () => boolean;
}

async function follow(api: ApiHandler): Promise<Followed> {
  const { body } = await call(api, { path: "/v1/events/stream" });
  if (body === null || typeof body === "string" || body instanceof Uint8Array) {
    throw new Error("no stream");
  }
  let text = "";
  let isOver = false;
  void (async () => {
    for await (const chunk of body) text += chunk;
    isOver = true;
  })().catch(() => {
    isOver = true;
  });
  return { text: () => text, isOver: () => isOver };
}

describe("an operator's event stream", () => {
  const narrowed: readonly [string, (access: OperatorAccess) => OperatorAccess | null][] = [
    ["signs out", () => null],
    ["becomes another person", (own) => ({ ...own, operator: { id: "ben", name: "Ben" } })],
    ["changes the mode", (own) => ({ ...own, scope: { ...own.scope, mode: "live" } })],
    ["loses the scope", (own) => ({ ...own, may: ["messages:read"] })],
  ];

  it.each(narrowed)("ends within 45 seconds when the person %s", async (_, change) => {
    const { engine, world: there, access, api } = await desk();
    let asked = 0;
    let isIn = true;
    const own = access();
    const renew = async (): Promise<OperatorAccess | null> => {
      asked++;
      return isIn ? own : change(own);
    };
    const stream = await follow(operatorApi(engine, { ...own, renew }));
    await there.clock.advance(300_000);
    expect(stream.isOver()).toBe(false);
    // Once in 30 seconds, and not for each event.
    expect(asked).toBe(10);
    for (let count = 0; count < 20; count++) await inbound(api("ben"));
    await there.clock.settle();
    expect(asked).toBe(10);
    isIn = false;
    await there.clock.advance(45_000);
    expect(stream.isOver()).toBe(true);
    const before = stream.text();
    expect(before).toContain("event: message.received");
    await inbound(api("ben"));
    await there.clock.settle();
    expect(stream.text()).toBe(before);
  });

  it("ends when the host cannot tell any more whether the person has access", async () => {
    const { engine, world: there, access } = await desk();
    const renew = (): Promise<null> => Promise.reject(new Error("the session store is gone"));
    const stream = await follow(operatorApi(engine, { ...access(), renew }));
    await there.clock.advance(45_000);
    expect(stream.isOver()).toBe(true);
    expect(there.log.map(({ level }) => level)).toContain("error");
  });
});
