import { describe, expect, it } from "vitest";
import { consentByAddress } from "../../src/contacts/consent/rows.ts";
import { messages } from "../../src/messages/rows.ts";
import { carrier } from "../support/engines/carrier.ts";
import { storages } from "../support/storage/storages.ts";
import { world } from "../support/engines/world.ts";
import { beforeCommits } from "../support/storage/groups.ts";

const phone = "+15005550101";

describe.each(storages)("a message to a new number, on $name", ({ open }) => {
  it("is refused if somebody with that number opts out and is erased before the commit", async () => {
    const { clock, engine, started } = world();
    const ground = open();
    const other = engine(ground.connect());
    let optOuts = 0;
    const overtaken = beforeCommits(ground.connect(), async (writes) => {
      const isSend = writes.some(
        ({ kind, collection }) => kind === "insert" && collection === messages,
      );
      if (!isSend || optOuts++ > 0) return;
      const { contact_id } = await other.sandbox.inbound({ from: phone, body: "STOP" });
      await other.contacts.erase(contact_id);
    });
    const line = carrier();
    const one = await started(overtaken, { transports: [line] });
    await clock.advance(7_777);
    const sent = one.messages.send({ to: phone, body: "Hi" });
    await expect(sent).rejects.toMatchObject({ code: "recipient_opted_out" });
    await clock.advance(60_000);
    expect(optOuts).toBe(1);
    expect(line.calls.map(({ message }) => message.body)).not.toContain("Hi");
  });

  it("leaves no consent behind if its contact is erased without having decided", async () => {
    const { engine } = world();
    const ground = open();
    const storage = ground.connect();
    const one = engine(storage);
    const { contact_id } = await one.messages.send({ to: phone, body: "Hi" });
    expect((await one.contacts.consents(contact_id)).data).toMatchObject([
      { address: phone, status: "unknown", updated_at: null },
    ]);
    await one.contacts.erase(contact_id);
    const left = await storage.reader.range({
      index: consentByAddress,
      prefix: [],
      order: "ascending",
      limit: 10,
    });
    expect(left).toEqual([]);
  });
});
