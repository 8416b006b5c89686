import { describe, expect, it } from "vitest";
import { messages } from "../../src/messages/rows.ts";
import type { Message } from "../../src/messages/types.ts";
import { StorageConflict } from "../../src/ports/storage.ts";
import { world } from "../support/engines/world.ts";
import { beforeCommits } from "../support/storage/groups.ts";
import { lightStorages } from "../support/storage/storages.ts";

const phone = "+15005551001";

describe.each(lightStorages)("a scheduled message in a conversation on $name", ({ open }) => {
  it("does not end the contact's wait, neither when it is sent nor when it is canceled", async () => {
    const { clock, started } = world();
    const one = await started(open().connect());
    const { conversation_id: id } = await one.sandbox.inbound({ from: phone, body: "Hello?" });
    const waits = (await one.conversations.get(id)).waiting_since;
    expect(waits).not.toBeNull();
    const plan = () => {
      const send_at = new Date(clock.now() + 60_000).toISOString();
      return one.messages.send({ to: phone, body: "Spring bread is here.", send_at });
    };
    const dropped = await plan();
    expect((await one.conversations.get(id)).waiting_since, "scheduled").toBe(waits);
    await one.messages.cancel(dropped.id);
    expect((await one.conversations.get(id)).waiting_since, "canceled").toBe(waits);
    const kept = await plan();
    await clock.advance(60_000);
    expect((await one.messages.get(kept.id)).status).toBe("sent");
    const { data } = await one.conversations.list({ waiting: true });
    expect(data.map((each) => [each.id, each.waiting_since])).toEqual([[id, waits]]);
    await one.messages.send({ to: phone, body: "Yes, we are here." });
    expect((await one.conversations.get(id)).waiting_since, "answered").toBeNull();
  });

  describe("from another number", () => {
    const usual = "+15005559999";
    const shop = "+15005558888";

    async function talking(scope: "account" | "sender") {
      const { clock, started } = world();
      const one = await started(open().connect(), { consent: { scope } });
      await one.senders.create({ address: shop, channels: ["sms"], transport: "sandbox" });
      const asked = await one.sandbox.inbound({ from: phone, to: usual, body: "Hello?" });
      const send_at = new Date(clock.now() + 60_000).toISOString();
      await one.messages.send({ to: phone, from: shop, body: "Bread is here.", send_at });
      return { clock, one, id: asked.conversation_id };
    }

    it("changes the contact's sender when it is due", async () => {
      const { clock, one, id } = await talking("account");
      const reply = await one.conversations.reply(id, { body: "We are here." });
      const sent = await one.messages.send({ to: phone, body: "Your order is ready." });
      expect([reply.from, sent.from]).toEqual([usual, usual]);
      await clock.advance(60_000);
      expect((await one.messages.send({ to: phone, body: "Enjoy!" })).from).toBe(shop);
    });

    it("changes the sender of each of the contact's numbers, though one engine is slow", async () => {
      const { clock, started } = world();
      const storage = open();
      let isSlow = false;
      const slow = beforeCommits(storage.connect(), async (writes) => {
        if (isSlow && writes.some(({ collection }) => collection === messages)) {
          await clock.sleep(5_000);
        }
      });
      const one = await started(slow, { concurrency: 1 });
      await one.senders.create({ address: shop, channels: ["sms"], transport: "sandbox" });
      const work = "+15005551002";
      const inbound = (from: string) => one.sandbox.inbound({ from, to: usual, body: "Hello?" });
      const { contact_id: contact } = await inbound(phone);
      const { contact_id: same } = await inbound(work);
      await one.contacts.merge(contact, same);
      const send_at = new Date(clock.now() + 60_000).toISOString();
      for (const to of [phone, work]) {
        await one.messages.send({ to, from: shop, body: "Bread is here.", send_at });
      }
      await clock.advance(59_000);
      isSlow = true;
      await clock.advance(1_001);
      const other = await started(storage.connect());
      await clock.advance(60_000);
      const sent: Message[] = [];
      for (const to of [phone, work]) sent.push(await other.messages.send({ to, body: "Enjoy!" }));
      expect(sent.map(({ from }) => from)).toEqual([shop, shop]);
    });

    it("changes the contact's sender also between a merge and the move of the history", async () => {
      const { clock, started } = world();
      const storage = beforeCommits(open().connect(), async (writes) => {
        const moves = writes.some(
          (write) =>
            write.collection === messages &&
            write.kind === "update" &&
            write.changed.includes("contact_id"),
        );
        if (moves) throw new StorageConflict("the history does not move yet");
      });
      const one = await started(storage);
      await one.senders.create({ address: shop, channels: ["sms"], transport: "sandbox" });
      const { contact_id: other } = await one.sandbox.inbound({ from: phone, body: "Hello?" });
      const send_at = new Date(clock.now() + 60_000).toISOString();
      await one.messages.send({ to: phone, from: shop, body: "Bread is here.", send_at });
      const { id: survivor } = await one.contacts.create({ phone: "+15005551002" });
      await expect(one.contacts.merge(survivor, other)).rejects.toThrow("kept changing");
      await clock.advance(60_000);
      expect((await one.messages.send({ to: phone, body: "Enjoy!" })).from).toBe(shop);
    });

    it("leaves the contact's sender if the contact has opted out of the other one", async () => {
      const { clock, one } = await talking("sender");
      await one.sandbox.inbound({ from: phone, to: shop, body: "STOP" });
      await clock.advance(60_000);
      const [offer] = (await one.messages.list({ status: "failed" })).data;
      expect(offer?.error?.code).toBe("recipient_opted_out");
      expect((await one.messages.send({ to: phone, body: "Your order is ready." })).from).toBe(
        usual,
      );
    });
  });

  it("counts as one if quiet hours defer it at once", async () => {
    const { clock, started } = world();
    const hour = new Date(clock.now()).getUTCHours();
    const at = (hours: number): string => `${String(hours % 24).padStart(2, "0")}:00`;
    const one = await started(open().connect(), {
      quietHours: { from: at(hour), to: at(hour + 2) },
    });
    const [usual, shop] = ["+15005559999", "+15005558888"];
    await one.senders.create({ address: shop, channels: ["sms"], transport: "sandbox" });
    const asked = await one.sandbox.inbound({ from: phone, to: usual, body: "Hello?" });
    const offer = { to: phone, from: shop, body: "Bread is here.", category: "marketing" } as const;
    const { id } = await one.messages.send(offer);
    await clock.settle();
    expect((await one.messages.get(id)).status).toBe("scheduled");
    expect((await one.conversations.get(asked.conversation_id)).waiting_since).not.toBeNull();
    expect((await one.messages.send({ to: phone, body: "Your order is ready." })).from).toBe(usual);
    await clock.advance(2 * 3_600_000);
    expect((await one.messages.send({ to: phone, body: "Enjoy!" })).from).toBe(shop);
  });

  it("changes the contact's sender if the quiet hours end before its hand-over", async () => {
    const { clock, engine } = world();
    const hour = new Date(clock.now()).getUTCHours();
    const at = (hours: number): string => `${String(hours % 24).padStart(2, "0")}:00`;
    const storage = open();
    const quietHours = { from: at(hour), to: at(hour + 2) };
    const one = engine(storage.connect(), { quietHours });
    const [usual, shop] = ["+15005559999", "+15005558888"];
    await one.senders.create({ address: shop, channels: ["sms"], transport: "sandbox" });
    await one.sandbox.inbound({ from: phone, to: usual, body: "Hello?" });
    const offer = { to: phone, from: shop, body: "Bread is here.", category: "marketing" } as const;
    const { id } = await one.messages.send(offer);
    expect((await one.messages.send({ to: phone, body: "Your order is ready." })).from).toBe(usual);
    await clock.advance(2 * 3_600_000);
    await one.start();
    await clock.settle();
    expect((await one.messages.get(id)).status).toBe("sent");
    expect((await one.messages.send({ to: phone, body: "Enjoy!" })).from).toBe(shop);
  });

  it("to another number of the contact leaves the address of replies", async () => {
    const { clock, engine } = world();
    const one = engine(open().connect());
    const work = "+15005551002";
    const { id: contact } = await one.contacts.create({ phone });
    const { id: other } = await one.contacts.create({ phone: work });
    await one.contacts.merge(contact, other);
    const { conversation_id: id } = await one.sandbox.inbound({ from: work, body: "Hello?" });
    const send_at = new Date(clock.now() + 60_000).toISOString();
    const reminder = await one.messages.send({ to: contact, body: "See you at nine.", send_at });
    const reply = await one.conversations.reply(id, { body: "We are here." });
    expect([reminder.to, reply.to]).toEqual([phone, work]);
    for (let day = 1; day <= 30; day++) {
      const later = new Date(clock.now() + day * 86_400_000).toISOString();
      await one.messages.send({ to: contact, body: "Take your medicine.", send_at: later });
    }
    expect((await one.conversations.reply(id, { body: "Bye!" })).to, "many reminders").toBe(work);
  });
});
