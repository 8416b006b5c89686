import { describe, expect, it } from "vitest";
import { messages } from "../../src/messages/rows.ts";
import { storages } from "../support/storage/storages.ts";
import { world } from "../support/engines/world.ts";
import { beforeCommits } from "../support/storage/groups.ts";

const phone = "+15005550101";

describe.each(storages)("an opt-out that commits before a text, on $name", ({ open }) => {
  it.each([
    { body: "START", status: "opted_in", answers: 1 },
    { body: "HELP", status: "opted_out", answers: 0 },
  ])("decides what $body means", async ({ body, status, answers }) => {
    const { engine } = world();
    const ground = open();
    const other = engine(ground.connect());
    const { contact_id } = await other.sandbox.inbound({ from: phone, body: "Hello" });
    let optOuts = 0;
    const overtaken = beforeCommits(ground.connect(), async (writes) => {
      const isText = writes.some(
        ({ kind, collection }) => kind === "insert" && collection === messages,
      );
      if (!isText || optOuts++ > 0) return;
      await other.contacts.setConsent(contact_id, "text", { status: "opted_out" });
    });
    const one = engine(overtaken, { consent: { helpText: "Call us." } });
    await one.sandbox.inbound({ from: phone, body });
    const [consent] = (await other.contacts.consents(contact_id)).data;
    expect(consent?.status).toBe(status);
    const { data } = await other.contacts.messages(contact_id);
    expect(data.filter(({ direction }) => direction === "outbound")).toHaveLength(answers);
    expect(optOuts).toBeGreaterThan(0);
  });
});
