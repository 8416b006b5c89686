import { expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import type { AccountHandle } from "../../src/host/index.ts";
import { carrier } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";

const customer = "+15005550101";
const line = "+15005550900";

/** How a host application gets its handler called. */
const ways: Readonly<Record<string, (engine: MessagingEngine) => void>> = {
  on: (engine) =>
    void engine.on("message.received", ({ data: { contact } }, { account }) =>
      reply(account, contact.id),
    ),
  consume: (engine) =>
    void engine.consume("replies", ["message.received"], ({ data: { contact } }, { account }) =>
      reply(account, contact.id),
    ),
};

async function reply(account: AccountHandle, to: string): Promise<void> {
  await account.messages.send({ to, body: "We will be in touch." });
}

const outbound = async ({ messages }: AccountHandle) =>
  (await messages.list({ direction: "outbound" })).data.map(({ to, status }) => ({ to, status }));

it.each(Object.keys(ways))(
  "a reply from a handler of `%s` goes out from the account that was written to, in its mode",
  async (way) => {
    const { clock, engine } = world();
    const [simulated, real] = [carrier(), carrier({ name: "line", modes: ["live"] })];
    const one = engine(memory(), { transports: [simulated, real] });
    const { account } = await one.accounts.create({ name: "Bakery" });
    const bakery = one.account(account.id);
    const liveBakery = one.account(account.id, { mode: "live" });
    await liveBakery.senders.create({ address: line, channels: ["sms"], transport: "line" });
    ways[way]?.(one);
    await one.start();
    await clock.settle();

    await bakery.sandbox.inbound({ from: customer, body: "Are you open?" });
    await clock.advance(10_000);
    expect(await outbound(bakery)).toEqual([{ to: customer, status: "sent" }]);
    expect(await outbound(liveBakery)).toEqual([]);

    await real.sink().inbound({
      channel: "sms",
      media: [],
      at: clock.now(),
      provider_message_id: "in-1",
      from: customer,
      to: line,
      body: "Hello",
    });
    await clock.advance(10_000);
    expect(await outbound(liveBakery)).toEqual([{ to: customer, status: "sent" }]);
    expect(real.calls.map(({ message }) => message.from)).toEqual([line]);

    expect(simulated.calls.map(({ message }) => message.account_id)).toEqual([account.id]);
    for (const mode of ["sandbox", "live"] as const) {
      expect(await outbound(one.account(undefined, { mode }))).toEqual([]);
    }
  },
);

it("a handler gets the handle of its event's account and mode, and the same one at each reading", async () => {
  const { engine } = world();
  const one = engine(memory());
  const { account } = await one.accounts.create({ name: "Bakery" });
  const seen: unknown[] = [];
  one.on("contact.created", (_event, context) => {
    const { account_id, mode } = context;
    seen.push([context.account.scope, context.account === context.account], { account_id, mode });
  });
  const { contacts, scope } = one.account(account.id, { mode: "live" });
  await contacts.create({ name: "Ann" });
  expect(seen).toEqual([[scope, true], scope]);
});
