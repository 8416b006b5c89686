import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { openTab, shop, type Tab, visitorOf } from "./world.ts";

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
