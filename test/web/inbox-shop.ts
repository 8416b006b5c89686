import { expect } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { newShop } from "./shop-pages.ts";

/** A conversation of the shop with everything in it: both directions, a note, an attachment, an agent's reply. */
export async function fullConversation({
  shop,
}: Pick<Awaited<ReturnType<typeof newShop>>, "shop">) {
  const { id: hours } = await shop.playbooks.create({
    name: "Hours",
    trigger: { keywords: ["open"] },
    steps: [{ id: "tell", type: "send", text: "Until six." }],
  });
  await shop.agents.create({
    name: "Bea",
    instructions: "Help.",
    channels: ["sms", "mms"],
    playbook_ids: [hours],
    reply: { debounce_ms: 0 },
  });
  const from = "+14155550100";
  await shop.contacts.create({ phone: from, name: "Ann Keller", attributes: { plan: "Pro" } });
  const { conversation_id: id, contact_id } = await shop.sandbox.inbound({
    from,
    body: "Great plants! Are you open?",
    media: [{ url: "https://example.com/plant.jpg" }],
  });
  await eventually(async () => {
    const { data } = await shop.conversations.messages(id);
    expect(data.map(({ direction, status }) => `${direction} ${status}`)).toContain(
      "outbound delivered",
    );
  });
  await shop.conversations.addNote(id, { body: "Regular customer" });
  await shop.conversations.setLabels(id, ["vip", "plants", "later"]);
  await shop.contacts.addObservation(contact_id, { content: "Likes ferns", kind: "fact" });
  await shop.messages.send({
    to: from,
    body: "Tomorrow at nine.",
    send_at: new Date(Date.now() + 3_600_000).toISOString(),
  });
  return id;
}
