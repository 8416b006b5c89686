/** The inbox of the shop in a tab, and a conversation with everything in it. */
import { expect, type TestContext } from "vitest";
import type { Policy } from "../../adapters/entry.ts";
import { inboxHandler } from "../../adapters/web/inbox/server/index.ts";
import type { sharedChromium } from "../support/browser/chromium.ts";
import { eventually } from "../support/eventually.ts";
import { newShop, newTab, servePage } from "./shop-pages.ts";

/** Nobody is written to at night, and nobody gets a discount. */
const houseRules: Policy = {
  name: "house_rules",
  evaluate({ message, now }) {
    if (message.body.includes("tonight")) {
      return { verdict: "defer", until: now + 3_600_000, reason: "It is late." };
    }
    if (!message.body.includes("discount")) return { verdict: "allow" };
    return { verdict: "deny", code: "discount", message: "There are no discounts." };
  },
};

/** Opens the inbox in a new tab. */
export async function openInbox(
  chromium: ReturnType<typeof sharedChromium>,
  skip: TestContext["skip"],
) {
  const { engine, shop, authorize } = await newShop({ policies: [houseRules] });
  const server = await servePage(inboxHandler(engine, { authorize }));
  const { url, refuse, breakOff, stop, restart } = server;
  return { shop, url, refuse, breakOff, stop, restart, ...(await newTab(await chromium(skip))) };
}

/** A conversation with everything in it: both directions, a note, an attachment, an agent's reply. */
export async function fullConversation({ shop }: Awaited<ReturnType<typeof openInbox>>) {
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
