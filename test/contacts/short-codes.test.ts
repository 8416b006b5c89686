import { describe, expect, it } from "vitest";
import { carrier } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { lightStorages } from "../support/storage/storages.ts";

const shop = "+15551230000";

describe.each(lightStorages)("a contact with no phone number on $name", ({ open }) => {
  async function written(from: string) {
    const { engine } = world();
    const line = carrier({ modes: ["live"] });
    const one = engine(open().connect(), { transports: [line], mode: "live" });
    await one.senders.create({ address: shop, channels: ["sms"], transport: "sandbox" });
    await one.start();
    const content = {
      channel: "sms",
      from,
      to: shop,
      body: "Your code is 17.",
      media: [],
    } as const;
    await line.sink().inbound({ ...content, provider_message_id: "in-1", at: 0 });
    const [contact] = (await one.contacts.list()).data;
    if (contact === undefined) throw new Error("there is no contact");
    return { one, contact };
  }

  it.each(["12345", "Bank 24"])(
    "but a short code or a name has %s only as address",
    async (from) => {
      const { one, contact } = await written(from);
      expect(contact).toMatchObject({
        phone: null,
        identities: [{ medium: "text", address: from }],
      });
      const [conversation] = (await one.conversations.list()).data;
      expect(conversation?.contact).toEqual({ id: contact.id, name: from, phone: null });
      const reply = await one.conversations.reply(conversation?.id ?? "", { body: "Who is this?" });
      expect(reply.to).toBe(from);
      const { phone } = await one.contacts.update(contact.id, { phone: "+15005550001" });
      expect(phone).toBe("+15005550001");
    },
  );

  it("but a short code is found by its digits", async () => {
    const { one, contact } = await written("12345");
    await one.contacts.create({ phone: "+1234555501" });
    await one.contacts.create({ phone: "+15005550002", name: "Ann" });
    const found = async (q: string) => (await one.contacts.search({ q })).data.map(({ id }) => id);
    expect((await found("12345"))[0]).toBe(contact.id);
    expect(await found("123")).toHaveLength(2);
  });
});
