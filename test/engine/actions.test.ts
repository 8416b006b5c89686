import { expect, it } from "vitest";
import * as z from "zod";
import { memory } from "../../adapters/storage/memory/index.ts";
import { action, type Action } from "../../src/host/actions.ts";
import { carrier } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";

const good: Action = {
  name: "look_up_order",
  description: "Looks up an order.",
  input: z.strictObject({}),
  risk: "read",
  idempotent: true,
  execute: () => null,
};

it.each<[string, Readonly<Record<string, unknown>>, string]>([
  [
    "name",
    { name: "look up" },
    'name: expected a letter and up to 63 letters, digits, "_" and "-", got "look up"',
  ],
  ["input", { input: {} }, "input: expected a schema, such as one of zod, got an object"],
  ["schema", { input: { "~standard": null } }, "input: expected a schema, such as one of zod"],
  ["validate", { input: { "~standard": { validate: 1 } } }, "input: expected a schema, such as"],
  ["risk", { risk: "rd" }, 'risk: expected "read", "write" or "approval", got "rd"'],
  ["idempotent", { idempotent: undefined }, "idempotent: expected true or false, got undefined"],
  [
    "timeout_ms",
    { timeout_ms: 0 },
    "timeout_ms: expected a whole number from 1 to 120,000, or nothing, got 0",
  ],
  ["execute", { execute: undefined }, "execute: expected a function, got undefined"],
])("the error for an action with a wrong %s names it", (_, wrong, message) => {
  expect(action(good)).toBe(good);
  expect(() => action({ ...good, ...wrong })).toThrow(`action: definition.${message}`);
});

it.each(["sandbox", "live"] as const)(
  "a message that an action sends to somebody else goes out from its conversation's account, in the mode %s",
  async (mode) => {
    const { clock, engine } = world();
    const tellKitchen = action({
      ...good,
      input: z.strictObject({ guests: z.number() }),
      risk: "write",
      async execute({ guests }, { account, scope, idempotency_key }) {
        expect(account.scope).toEqual(scope);
        const order = { to: "+15005550102", body: `A table for ${guests}` };
        const { id } = await account.messages.send(order, { idempotencyKey: idempotency_key });
        return id;
      },
    });
    const one = engine(memory(), {
      transports: [carrier(), carrier({ name: "line", modes: ["live"] })],
      agents: { model: () => ({}), actions: [tellKitchen] },
    });
    const bakery = one.account((await one.accounts.create({ name: "Bakery" })).account.id, {
      mode,
    });
    if (mode === "live") {
      const address = "+15005550900";
      await bakery.senders.create({ address, channels: ["sms"], transport: "line" });
    }
    const { id: contact_id } = await bakery.contacts.create({ phone: "+15005550101" });
    const agent = await bakery.agents.create({ name: "Ada", channels: ["sms"] });
    await one.start();

    const call = { contact_id, action: good.name, input: { guests: 4 } };
    const run = await bakery.agents.trigger(agent.id, call);
    await clock.advance(10_000);

    const { data } = await bakery.messages.list({ direction: "outbound" });
    expect(data).toMatchObject([{ to: "+15005550102", body: "A table for 4", status: "sent" }]);
    const { status, result } = await bakery.agents.run(agent.id, run.id);
    expect({ status, result }).toEqual({ status: "completed", result: data[0]?.id });
    for (const other of ["sandbox", "live"] as const) {
      expect((await one.account(undefined, { mode: other }).messages.list()).data).toEqual([]);
    }
  },
);
