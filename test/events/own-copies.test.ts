/** What the parts of an application get of an event, whatever happens to it afterwards. */
import { expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { Event } from "../../src/webhooks/event-catalog.ts";
import { world } from "../support/engines/world.ts";

type Created = Event<"contact.created">;

/** Notes the labels of a new contact, and adds one. */
const change =
  (seen: string[][]) =>
  ({ data: { contact } }: Created): void => {
    seen.push([...contact.labels]);
    contact.labels.push("changed");
  };

it("each handler, consumer and reader of a stream has its own event", async () => {
  const { clock, engine } = world();
  const one = engine(memory());
  const [handled, consumed, streamed]: string[][][] = [[], [], []];
  for (let i = 0; i < 2; i++) {
    one.on("contact.created", (event) => change(handled ?? [])(event));
    one.consume(`consumer-${i}`, ["contact.created"], change(consumed ?? []));
  }
  await one.start();
  const streams = await Promise.all(
    [1, 2].map(() => one.events.stream({ types: ["contact.created"] })),
  );
  await one.contacts.create({ phone: "+15005551001", labels: ["new"] });
  for (const stream of streams) {
    for await (const event of stream) {
      change(streamed ?? [])(event);
      break;
    }
  }
  await clock.advance(1_000);
  const each = [["new"], ["new"]];
  expect({ handled, consumed, streamed }).toEqual({
    handled: each,
    consumed: each,
    streamed: each,
  });
});

it("a handler is not called again for an event from which a redaction removes the text", async () => {
  const { clock, engine } = world();
  const one = engine(memory());
  const bodies: string[] = [];
  one.on("message.received", ({ data }) => void bodies.push(data.body));
  await one.start();
  const { id } = await one.sandbox.inbound({ from: "+15005551001", body: "swordfish" });
  await one.messages.redact(id);
  await clock.advance(1_000);
  expect(bodies).toEqual(["swordfish"]);
});
