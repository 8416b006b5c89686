/** Contacts that give up a number, and messages that wait meanwhile to go to it. */
import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import { carrier } from "../support/engines/carrier.ts";
import { fastForward } from "../support/engines/fast-forward.ts";
import { world } from "../support/engines/world.ts";
import { lightStorages } from "../support/storage/storages.ts";

const phone = "+4915112345678";
const other = "+4915187654321";
const hour = 3_600_000;

describe.each(lightStorages)("a message that waits, on $name,", ({ open }) => {
  async function waiting(change: (engine: MessagingEngine, ann: string) => Promise<unknown>) {
    const { clock, started } = world();
    const line = carrier();
    const storage = open().connect();
    const one = await started(storage, { transports: [line] });
    const { id: ann } = await one.contacts.create({ phone, name: "Ann" });
    const send_at = new Date(clock.now() + hour).toISOString();
    const { id } = await one.messages.send({ to: ann, body: "Your results are in.", send_at });
    await change(one, ann);
    await fastForward(clock, storage, hour);
    const { data } = await one.messages.timeline(id);
    const denials = data.flatMap((entry) => (entry.type === "policy" ? [entry.policy] : []));
    return { calls: line.calls.length, message: await one.messages.get(id), denials };
  }

  const changed = {
    calls: 0,
    message: {
      status: "failed",
      error: { stage: "policy", code: "policy_denied", provider_code: "recipient_changed" },
    },
    denials: ["recipient"],
  };

  it("is not sent to another contact who has the number now", async () => {
    const result = await waiting(async ({ contacts }, ann) => {
      await contacts.update(ann, { phone: other });
      await contacts.create({ phone, name: "Bob" });
    });
    expect(result).toMatchObject(changed);
  });

  it("is not sent to a number that its contact gave up", async () => {
    const result = await waiting(({ contacts }, ann) => contacts.update(ann, { phone: null }));
    expect(result).toMatchObject(changed);
  });

  it("is sent if its contact has the number again", async () => {
    const result = await waiting(async ({ contacts }, ann) => {
      await contacts.update(ann, { phone: other });
      await contacts.update(ann, { phone });
    });
    expect(result).toMatchObject({ calls: 1, denials: [] });
  });

  it("is sent if its contact was merged into another", async () => {
    const result = await waiting(async ({ contacts }, ann) => {
      const { id } = await contacts.create({ phone: other, name: "Ann Lee" });
      await contacts.merge(id, ann);
    });
    expect(result).toMatchObject({ calls: 1, denials: [] });
  });
});

it("a contact with a new number gets messages from the sender that it knows", async () => {
  const { engine } = world();
  const one = engine(memory());
  const address = "+15550000001";
  await one.senders.create({
    address,
    channels: ["sms"],
    transport: "sandbox",
    default: false,
  });
  const { contact_id } = await one.sandbox.inbound({ from: phone, to: address, body: "Hello" });
  await one.contacts.update(contact_id, { phone: other });
  const sent = await one.messages.send({ to: contact_id, body: "Hi" });
  expect([sent.from, sent.to]).toEqual([address, other]);
});
