import { expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { world } from "../support/engines/world.ts";

const [home, work, mobile] = ["+15005550001", "+15005550002", "+15005550009"];

it("a reply goes to the contact's phone if no address of the conversation is left", async () => {
  const one = world().engine(memory());
  const { id: contact } = await one.contacts.create({ phone: mobile });
  for (const phone of [home, work]) {
    await one.contacts.merge(contact, (await one.contacts.create({ phone })).id);
  }
  const { id } = await one.conversations.open({ to: contact });
  expect((await one.conversations.reply(id, { body: "Hello" })).to, "before a message").toBe(
    mobile,
  );

  await one.sandbox.inbound({ from: mobile, body: "I get a new number." });
  await one.contacts.update(contact, { phone: work });
  await one.contacts.update(contact, { phone: mobile });
  await one.contacts.update(contact, { phone: "+15005550008" });
  expect((await one.conversations.reply(id, { body: "Thank you." })).to).toBe("+15005550008");
});
