/** Redactions and merges, as browsers are told of them. */
import { expect, test } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { mail } from "../../src/webchat/rows.ts";
import { world } from "../support/engines/world.ts";
import { eventually } from "../support/eventually.ts";
import { beforeReads } from "../support/storage/groups.ts";
import { rowsOf } from "../support/storage/rows.ts";
import { openTab, shop, visitorOf, type Tab } from "./world.ts";

test("open pages, and pages that reconnect, are told once that a message was redacted", async () => {
  const there = await shop();
  const visitor = visitorOf(there, await there.engine.webchat.open());
  const send = async (body: string): Promise<string> => {
    const to = visitor.session.contact_id;
    return (await there.engine.messages.send({ to, channel: "webchat", body })).id;
  };
  const bodies = ({ told }: Tab) => told.map(({ message }) => message.body);
  const tab = openTab(visitor);
  const secret = await send("secret");
  const own = await visitor.post("/messages", { body: "my secret" });
  const { id: ownSecret } = (await own.json()) as { readonly id: string };
  await send("plain");
  await eventually(() => expect(bodies(tab)).toEqual(["secret", "plain"]));

  const empty = { body: null, media: [] };
  const first = { id: "3", message: { id: secret, direction: "outbound", ...empty } };
  await there.engine.messages.redact(secret);
  await eventually(() => expect(tab.redactions).toMatchObject([first]));
  const goOnline = tab.goOffline();
  there.cut();
  await there.engine.messages.redact(ownSecret);
  goOnline();
  const second = { id: "4", message: { id: ownSecret, direction: "inbound", ...empty } };
  await eventually(() => expect(tab.redactions).toMatchObject([first, second]));
  // Another redaction changes nothing.
  await there.engine.messages.redact(secret);
  await send("last");
  await eventually(() => expect(tab.told.map(({ id }) => id)).toEqual(["1", "2", "5"]));
  expect(tab.redactions).toHaveLength(2);

  // A page that was opened later never had the texts.
  const later = openTab(visitor);
  await eventually(() => expect(bodies(later)).toEqual(["plain", "last"]));
});

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
      const entries = await rowsOf(storage, mail);
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
