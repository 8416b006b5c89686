import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ApiRoute } from "../../src/operations/api-route.ts";
import { apiRoutes } from "../../src/modules.ts";
import { keyScopes } from "../../src/operations/operation.ts";
import { defaultLimits } from "../../src/kernel/limits.ts";
import { call, jsonOf } from "./call.ts";
import { type Kept, storages, type Tenant, world, type World } from "./world.ts";

type Authorized = Extract<ApiRoute, { scopes: readonly unknown[] }>;

const routes = apiRoutes(defaultLimits).filter((route): route is Authorized => "scopes" in route);
const titled = (route: Authorized): { name: string; route: Authorized } => ({
  name: `${route.method} ${route.path}`,
  route,
});
const scoped = routes.filter((route) => route.scopes.length > 0);
const withId = routes.filter(({ path }) => path.includes(":"));

/** Further path parameters, by name, after the id. */
type Parts = Readonly<Record<string, string>>;

const pathOf = ({ path }: ApiRoute, id: string, parts: Parts = {}): string =>
  path.replace(":medium", "text").replaceAll(/:(\w+)/g, (_, name: string) => parts[name] ?? id);

/** The required query parameters of lists. */
const queries: Readonly<Record<string, string>> = {
  "/v1/contacts/search": "?q=anna",
  "/v1/conversations/search": "?q=anna",
};

/** Valid bodies. Only their account may be wrong. */
const bodies: Readonly<Record<string, object>> = {
  "POST /v1/messages": { to: "+15005550001", body: "hello" },
  "PATCH /v1/messages/:id": { body: "changed" },
  "POST /v1/sandbox/messages/:id/receipts": { receipts: [{ status: "delivered" }] },
  "PATCH /v1/senders/:id": { default: true },
  "PUT /v1/contacts/:id/consents/:medium": { status: "opted_out" },
  "POST /v1/contacts/:id/merge": { contact_id: "ct_01JZZZZZZZZZZZZZZZZZZZZZZZ" },
  "POST /v1/contacts/:id/observations": { content: "likes tea", kind: "taste" },
  "POST /v1/conversations": { to: "+15005550001" },
  "PATCH /v1/conversations/:id": { priority: "high" },
  "POST /v1/conversations/:id/messages": { body: "hello" },
  "POST /v1/conversations/:id/notes": { body: "hello" },
  "POST /v1/conversations/:id/assign": { assignee: { type: "human", id: "anna" } },
  "PUT /v1/conversations/:id/labels": { labels: ["new"] },
  "POST /v1/conversations/:id/handoff": { reason: "asked for it" },
  "PUT /v1/operators/:id": { name: "Anna" },
  "POST /v1/webhooks": { url: "https://example.com/hooks", events: ["*"] },
  "PATCH /v1/webhooks/:id": { description: "changed" },
  "POST /v1/webhooks/:id/recover": { since: "2026-01-01T00:00:00Z" },
  "POST /v1/agents": { name: "Ada", channels: ["sms"] },
  "PATCH /v1/agents/:id": { name: "Ada" },
  "POST /v1/agents/:id/trigger": {
    contact_id: "ct_01JZZZZZZZZZZZZZZZZZZZZZZZ",
    playbook_id: "pb_01JZZZZZZZZZZZZZZZZZZZZZZZ",
  },
  "POST /v1/agents/:id/runs/:run_id/approve": { decision: "deny" },
  "POST /v1/playbooks": { name: "Greet", steps: [{ id: "greet", type: "send", text: "Hello!" }] },
  "PATCH /v1/playbooks/:id": { description: "changed" },
  "POST /v1/sandbox/events": { type: "message.sent" },
};
const bodyOf = ({ method, path }: ApiRoute): { body?: object } =>
  method === "GET" ? {} : { body: bodies[`${method} ${path}`] ?? {} };

describe.each(storages)("over $name", ({ make }) => {
  let there: World;
  let own: Tenant;
  let kept: Kept;
  beforeAll(async () => {
    kept = await make();
    there = world({}, kept.storage);
    own = await there.tenant("sandbox");
  });
  afterAll(async () => {
    await there.engine.stop();
    await kept.remove();
  });

  describe.each(routes.map(titled))("$name", ({ route }) => {
    test("answers 401 without a key and with an unknown one", async () => {
      for (const key of [undefined, "tdg_test_00000000000000000000000000000000000000"]) {
        const asked = { method: route.method, path: pathOf(route, "msg_x"), ...bodyOf(route) };
        const answer = await call(there.engine.api, key === undefined ? asked : { ...asked, key });
        expect(answer.status).toBe(401);
        expect(answer.headers["WWW-Authenticate"]).toMatch(/^Bearer/);
      }
    });
  });

  describe.each(scoped.map(titled))("$name", ({ route }) => {
    test("answers 403 with the missing scope to a key that lacks one of its scopes", async () => {
      for (const scope of route.scopes) {
        const key = await there.keyWith(
          own,
          keyScopes.filter((each) => each !== scope),
        );
        const before = await there.dump();
        const answer = await call(there.engine.api, {
          method: route.method,
          path: pathOf(route, "msg_x"),
          key,
          ...bodyOf(route),
        });
        expect(jsonOf(answer)).toMatchObject({
          status: 403,
          code: "insufficient_scope",
          detail: expect.stringContaining(scope) as unknown,
        });
        expect(await there.dump()).toBe(before);
      }
    });

    test("requires only its own scopes", async () => {
      const key = await there.keyWith(own, [...route.scopes]);
      const left = AbortSignal.abort();
      const answer = await call(there.engine.api, {
        method: route.method,
        path: pathOf(route, "msg_x"),
        key,
        signal: left,
      });
      expect(answer.status).not.toBe(401);
      expect(answer.status).not.toBe(403);
      expect(answer.status).toBeLessThan(500);
    });
  });

  describe("ids of another account, of the other mode and unknown ones", () => {
    const masked = (text: unknown): unknown =>
      typeof text === "string" ? text.replace(/"request_id":"[^"]*"/, "") : text;

    interface Owner {
      readonly owner: Tenant;
      /** One id per resource of the owner, by the first segment of the path. */
      readonly ids: Parts;
      readonly parts: Parts;
    }

    let reader: Promise<Owner> | undefined;
    /** A new tenant for each route that writes, and a shared one for all that read. */
    const ownerFor = ({ method }: ApiRoute): Promise<Owner> =>
      method === "GET" ? (reader ??= newOwner()) : newOwner();

    async function newOwner(): Promise<Owner> {
      const owner = await there.tenant("sandbox");
      const { secret: key } = owner;
      const hook = await call(there.engine.api, {
        method: "POST",
        path: "/v1/webhooks",
        key,
        body: { url: "https://example.com/hooks", events: ["*"] },
      });
      const webhook = String(jsonOf(hook)["id"]);
      const sent = await call(there.engine.api, {
        method: "POST",
        path: "/v1/messages",
        key,
        body: { to: "+15005550001", body: "hello" },
      });
      const message = String(jsonOf(sent)["id"]);
      const first = async (path: string): Promise<string> => {
        const { data } = jsonOf(await call(there.engine.api, { path, key })) as {
          data: { id: string }[];
        };
        return data[0]?.id ?? expect.fail(`nothing at ${path}`);
      };
      const contact = await first("/v1/contacts");
      const noted = await call(there.engine.api, {
        method: "POST",
        path: `/v1/contacts/${contact}/observations`,
        key,
        body: { content: "likes tea", kind: "taste" },
      });
      const make = async (path: string, body: object): Promise<string> =>
        String(jsonOf(await call(there.engine.api, { method: "POST", path, key, body }))["id"]);
      const agent = await make("/v1/agents", bodies["POST /v1/agents"] ?? {});
      const playbook = await make("/v1/playbooks", {
        ...bodies["POST /v1/playbooks"],
        enabled: true,
      });
      const run_id = await make(`/v1/agents/${agent}/trigger`, {
        contact_id: contact,
        playbook_id: playbook,
      });
      const ids = {
        messages: message,
        sandbox: message,
        senders: await first("/v1/senders"),
        "api-keys": await first("/v1/api-keys"),
        events: await first("/v1/events"),
        contacts: contact,
        conversations: await first("/v1/conversations"),
        webhooks: webhook,
        agents: agent,
        playbooks: playbook,
      };
      const delivery_id = await first(`/v1/webhooks/${webhook}/deliveries`);
      return {
        owner,
        ids,
        parts: { observation_id: String(jsonOf(noted)["id"]), delivery_id, run_id },
      };
    }

    test.each(withId.map(titled))(
      "get the same 404 from $name, and nothing changes",
      async ({ route }) => {
        const noun = route.path.split("/")[2] ?? "";
        const { owner, ids, parts } = await ownerFor(route);
        const id = ids[noun] ?? expect.fail(`no id of ${noun}`);
        const prefix = id.split("_")[0] ?? "";
        const ask = (key: string, foreign: string) =>
          call(there.engine.api, {
            method: route.method,
            path: pathOf(route, foreign, parts),
            key,
            ...bodyOf(route),
          });

        for (const { secret, scope } of [own, await there.other(owner), await there.other(own)]) {
          const never = await ask(secret, `${prefix}_01JZZZZZZZZZZZZZZZZZZZZZZZ`);
          // The sandbox's routes reject all live keys.
          const refusal = noun === "sandbox" && scope.mode === "live" ? "conflict" : "not_found";
          expect(jsonOf(never)).toMatchObject({ code: refusal });
          const before = await there.dump();
          for (const foreign of [id, "x", "__proto__", "a%20b"]) {
            const answer = await ask(secret, foreign);
            expect([foreign, answer.status, masked(answer.body)]).toEqual([
              foreign,
              never.status,
              masked(never.body),
            ]);
          }
          expect(await there.dump()).toBe(before);
        }
        // The owner gets no 404, so the row exists.
        expect((await ask(owner.secret, id)).status).not.toBe(404);
      },
    );
  });

  test("responses match the schemas of the document", async () => {
    const { secret: key } = await there.tenant("sandbox");
    await call(there.engine.api, {
      method: "POST",
      path: "/v1/messages",
      key,
      body: { to: "+15005550001", body: "hello" },
    });
    for (const route of routes) {
      if (route.method !== "GET" || route.path.includes(":") || !("response" in route)) continue;
      const answer = await call(there.engine.api, {
        path: `${route.path}${queries[route.path] ?? ""}`,
        key,
      });
      expect(answer.status).toBe(200);
      expect(route.response?.safeParse(jsonOf(answer)).error).toBeUndefined();
    }
  });

  test("an Idempotency-Key replays the same bytes, and rejects other input", async () => {
    const send = (body: string, key: string) =>
      call(there.engine.api, {
        method: "POST",
        path: "/v1/messages",
        key: own.secret,
        headers: ["Idempotency-Key", key],
        body: { to: "+15005550001", body },
      });
    const first = await send("once", "k1");
    const again = await send("once", '"k1"');
    expect(first.status).toBe(201);
    expect([again.status, again.body]).toEqual([first.status, first.body]);
    expect([first.headers["Idempotent-Replayed"], again.headers["Idempotent-Replayed"]]).toEqual([
      undefined,
      "true",
    ]);
    expect(jsonOf(await send("other", "k1"))).toMatchObject({
      status: 422,
      code: "idempotency_key_reused",
    });

    const cancel = () =>
      call(there.engine.api, {
        method: "POST",
        path: "/v1/messages/msg_01JZZZZZZZZZZZZZZZZZZZZZZZ/cancel",
        key: own.secret,
        headers: ["Idempotency-Key", "k2"],
      });
    const missed = await cancel();
    const missedAgain = await cancel();
    expect(missed.status).toBe(404);
    expect([missedAgain.status, missedAgain.body]).toEqual([missed.status, missed.body]);
    expect(missedAgain.headers).toMatchObject({
      "Idempotent-Replayed": "true",
      "Content-Type": "application/problem+json",
    });
    expect(there.errors).toEqual([]);
  });
});
