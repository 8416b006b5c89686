/** Messages to visitors whose contacts merge meanwhile, and the redactions of such messages. */
import { expect, test } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { mail } from "../../src/webchat/rows.ts";
import { world } from "../support/engines/world.ts";
import { beforeReads } from "../support/storage/groups.ts";

test.each(["survives", "does not survive"] as const)(
  "a browser that sees a text through a merge, which the text's contact %s, is told of its redaction",
  async (which) => {
    let merges = 0;
    for (;;) {
      const storage = memory();
      const { engine, started, clock } = world();
      const other = await started(storage);
      const [own, others] = [await other.webchat.open(), await other.webchat.open()];
      const { contact_id: to } = own;
      const { id } = await other.messages.send({ to, channel: "webchat", body: "secret" });
      await clock.advance(10_000);

      let reads = 0;
      const front = engine(
        beforeReads(storage, async () => {
          if (reads++ !== merges) return;
          if (which === "survives") await other.contacts.merge(to, others.contact_id);
          else await other.contacts.merge(others.contact_id, to);
          const [message] = (await other.webchat.messages(others.id)).data;
          expect(message?.body).toBe("secret");
        }),
      );
      await front.messages.redact(id);
      if (reads <= merges) break;
      const all = { prefix: [], order: "ascending", limit: 10 } as const;
      const entries = await storage.reader.range({ index: mail.primary, ...all });
      const told = entries.map(({ message_id }) => message_id);
      expect(told, `after a merge before read ${merges}`).toEqual([id, id]);
      merges++;
      await front.stop();
      await other.stop();
    }
    expect(merges).toBeGreaterThan(5);
  },
);

test("a message to a visitor whose contact is merged meanwhile reaches the visitor's browser", async () => {
  let merges = 0;
  for (;;) {
    const storage = memory();
    const { engine, started, clock } = world();
    const other = engine(storage);
    const [visitor, survivor] = [await other.webchat.open(), await other.webchat.open()];
    const { id } = await other.messages.send({
      to: visitor.contact_id,
      channel: "webchat",
      body: "Hello",
    });
    let reads = 0;
    const front = await started(
      beforeReads(storage, async () => {
        if (reads++ === merges) {
          await other.contacts.merge(survivor.contact_id, visitor.contact_id);
        }
      }),
    );
    await clock.advance(10_000);
    if (reads <= merges) break;
    const session = await other.webchat.messages(visitor.id);
    expect(session.last_event_id, `after a merge before read ${merges}`).toBe("1");
    expect((await other.messages.get(id)).status).toBe("sent");
    merges++;
    await front.stop();
    await other.stop();
  }
  expect(merges).toBeGreaterThan(5);
});
