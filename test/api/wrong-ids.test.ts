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
