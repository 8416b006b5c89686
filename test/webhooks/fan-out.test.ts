import fc from "fast-check";
import { expect, it } from "vitest";
import { type EventPattern, eventPatterns, eventTypesOf } from "../../src/webhooks/fields.ts";
import { storages } from "../support/storages.ts";
import { webhookWorld } from "./world.ts";

const embedded = storages.filter(({ name }) => name === "memory");

it.each(embedded)(
  "an event goes once to each webhook whose filter matches it, on $name",
  async ({ open }) => {
    const filter = fc.uniqueArray(fc.constantFrom(...eventPatterns), {
      minLength: 1,
      maxLength: 6,
    });
    // Twelve webhooks can have more patterns than one read returns.
    const filters = fc.array(filter, { minLength: 1, maxLength: 12, size: "max" });
    const types = fc.uniqueArray(fc.constantFrom("message.received", "contact.created"), {
      minLength: 1,
    });
    await fc.assert(
      fc.asyncProperty(filters, types, async (drawn, told) => {
        const { desk, deliveries } = await webhookWorld(open());
        const expected: string[] = [];
        const hooks: { readonly id: string; readonly events: readonly EventPattern[] }[] = [];
        for (const [i, events] of drawn.entries()) {
          const url = `https://a${i}.example/`;
          const { id } = await desk.webhooks.create({ url, events });
          hooks.push({ id, events });
        }
        for (const type of told) {
          await desk.sandbox.event({ type });
          for (const { id, events } of hooks) {
            if (eventTypesOf(events).includes(type)) expected.push(`${type} ${id}`);
          }
        }
        const made = (await deliveries()).map((row) => `${row.event_type} ${row.webhook_id}`);
        expect(made.toSorted()).toEqual(expected.toSorted());
      }),
      { numRuns: 20 },
    );
  },
);
