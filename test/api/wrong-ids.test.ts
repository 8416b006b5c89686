import { expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { defaultLimits } from "../../src/kernel/index.ts";
import { apiRoutes } from "../../src/modules.ts";
import { world } from "../support/engines/world.ts";
import { call, jsonOf } from "./call.ts";

const to = "+15005550001";

it("an id of another kind is not found, and the error says which kind was expected and came", async () => {
  const one = world().engine(memory());
  const message = await one.messages.send({ to, body: "Hello" });
  const { conversation_id, contact_id } = message;
  const cases: readonly (readonly [() => Promise<unknown>, string])[] = [
    [() => one.messages.get(contact_id), "a message (msg_…), but this is the id of a contact"],
    [
      () => one.messages.cancel(conversation_id),
      "a message (msg_…), but this is the id of a conversation",
    ],
    [() => one.contacts.get(message.id), "a contact (ct_…), but this is the id of a message"],
    [() => one.agents.get(contact_id), "an agent (agt_…), but this is the id of a contact"],
    [
      () => one.agents.run(contact_id, message.id),
      "an agent (agt_…), but this is the id of a contact",
    ],
  ];
  for (const [result, kinds] of cases) {
    await expect(result()).rejects.toMatchObject({
      code: "not_found",
      status: 404,
      message: expect.stringMatching(`^No such \\w+: expected the id of `) as string,
      detail: expect.stringContaining(`expected the id of ${kinds}.`) as string,
    });
  }
  const asBefore = { code: "not_found", message: "No such message." };
  await expect(one.messages.get(`${message.id.slice(0, -1)}_`)).rejects.toMatchObject(asBefore);
  await expect(one.messages.get("order-1")).rejects.toMatchObject(asBefore);
  await expect(one.contacts.merge(contact_id, message.id)).rejects.toMatchObject({
    code: "validation_failed",
    errors: [{ message: "expected the id of a contact (ct_…), but this is the id of a message" }],
  });
});

/** The parameters of queries that take an id. */
const filters = [
  ["/v1/messages", "contact_id", "a contact (ct_…)"],
  ["/v1/messages", "conversation_id", "a conversation (conv_…)"],
  ["/v1/conversations", "contact_id", "a contact (ct_…)"],
  ["/v1/agents/agt_x/runs", "conversation_id", "a conversation (conv_…)"],
  ["/v1/events/stream", "conversation_id", "a conversation (conv_…)"],
  ["/v1/contacts/:id/merge-preview", "contact_id", "a contact (ct_…)"],
] as const;

it("every filter by an id is tried", async () => {
  const document = jsonOf(await call(world().engine(memory()).api, { path: "/v1/openapi.json" }));
  const { paths } = document as unknown as {
    readonly paths: Record<string, Record<string, { parameters?: { in: string; name: string }[] }>>;
  };
  const found = Object.entries(paths).flatMap(([path, { get }]) =>
    (get?.parameters ?? [])
      .filter(({ in: place, name }) => place === "query" && /^(?!last_event).*_id$/.test(name))
      .map(({ name }) => `${path.replaceAll(/\{\w+\}/g, "*")} ${name}`),
  );
  const tried = filters.map(([path, name]) => `${path.replaceAll(/:id|agt_x/g, "*")} ${name}`);
  expect(found.toSorted()).toEqual(tried.toSorted());
});

it.each(filters)("%s?%s= of another kind is refused, too", async (path, parameter, kind) => {
  const one = world().engine(memory());
  const { account, key } = await one.accounts.create({ name: "Bakery" });
  const tenant = one.account(account.id, { mode: key.mode });
  const { id, contact_id } = await tenant.messages.send({ to, body: "Hello" });
  const asked = { path: `${path.replace(":id", contact_id)}?${parameter}=${id}`, key: key.secret };
  const answer = await call(one.api, asked);
  expect(answer.status).toBe(422);
  const message = `expected the id of ${kind}, but this is the id of a message`;
  expect(jsonOf(answer)).toMatchObject({
    code: "validation_failed",
    errors: [{ parameter, message }],
  });
});

it("a filter by an id of no kind matches nothing", async () => {
  expect(await world().engine(memory()).messages.list({ contact_id: "xyz" })).toMatchObject({
    data: [],
    has_more: false,
  });
});

/** Their ids are the host application's, or a token or another parameter is checked first. */
const others = /^\/v1\/(?:operators|webchat|transports|openapi)|merge-preview$/;
const routes = apiRoutes(defaultLimits).filter(
  ({ method, path }) =>
    path.includes(":") && !others.test(path) && (method === "GET" || method === "DELETE"),
);

it.each(routes)("$method $path says so, too", async ({ method, path }) => {
  const one = world().engine(memory());
  const { account, key } = await one.accounts.create({ name: "Bakery" });
  const answer = await call(one.api, {
    method,
    path: path.replaceAll(/:\w+/g, account.id),
    key: key.secret,
  });
  expect(answer.status).toBe(404);
  const { code, detail } = jsonOf(answer);
  expect(code).toBe("not_found");
  expect(detail).toMatch(/^No such .+: expected the id of .+, but this is the id of an account\.$/);
});
