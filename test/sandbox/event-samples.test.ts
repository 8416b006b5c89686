import { describe, expect, it, test } from "vitest";
import type { Contact } from "../../src/contacts/types.ts";
import { eventResource } from "../../src/events/rows.ts";
import { eventTypes, type EventType } from "../../src/events/types.ts";
import { sampleData } from "../../src/sandbox/event-samples.ts";
import { anyEventSchema } from "../../src/webhooks/event-catalog.ts";

const now = Date.UTC(2026, 0, 1);
const id = "evt_01JZZZZZZZZZZZZZZZZZZZZZZZ";

const visitor: Contact = {
  ...sampleData("contact.created", { now }).contact,
  id: "ct_01JZZZZZZZZZZZZZZZZZZZZZZZ",
  name: null,
  phone: null,
  identities: [{ medium: "webchat", address: "visitor-7" }],
};

const eventOf = (type: EventType, contact?: Contact) =>
  eventResource({
    id,
    type,
    created_at: now,
    data: sampleData(type, { now, ...(contact === undefined ? {} : { contact }) }),
  });

describe.each(eventTypes)("a sample of %s", (type) => {
  it("is a valid event, for an invented contact and for one without name and number", () => {
    for (const contact of [undefined, visitor]) {
      const event = eventOf(type, contact);
      expect(event.type).toBe(type);
      expect(anyEventSchema.safeParse(event).error).toBeUndefined();
    }
  });
});

test("samples use the given contact if their type concerns a contact", () => {
  const about = eventTypes.filter((type) =>
    JSON.stringify(eventOf(type, visitor)).includes(visitor.id),
  );
  const impersonal: ReadonlySet<EventType> = new Set(["agent.run.completed", "webhook.disabled"]);
  expect(new Set(about)).toEqual(new Set(eventTypes.filter((type) => !impersonal.has(type))));
});
