/** The inbox of examples/inbox, where an agent works beside the shop's people. */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { rules } from "tidings/models";
import { shop } from "../../examples/inbox/app.ts";
import { sqlite } from "../../adapters/storage/sqlite/index.ts";
import { sandbox } from "../../adapters/transport/sandbox/index.ts";
import { MessagingEngine } from "../../adapters/entry.ts";
import { simulated } from "../../adapters/testing/index.ts";
import { stopped } from "../support/world.ts";

const phone = "+15005550001";

test("the inbox shows an agent's replies and the handler; a person who replies becomes the handler", async () => {
  const { clock, random } = simulated();
  const folder = await mkdtemp(join(tmpdir(), "tidings-"));
  const storage = sqlite({ file: join(folder, "test.db") });
  const engine = new MessagingEngine({
    storage,
    transports: [sandbox()],
    clock,
    random,
    agents: { model: rules() },
  });
  const db = new DatabaseSync(":memory:");
  const server = shop(engine, db).listen(0, "127.0.0.1");
  onTestFinished(async () => {
    server.close();
    server.closeAllConnections();
    await stopped(engine, clock);
    db.close();
    await rm(folder, { recursive: true });
  });
  await Promise.all([once(server, "listening"), engine.start()]);
  await engine.sandbox.seed();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const { contact_id, conversation_id } = await engine.sandbox.inbound({
    from: phone,
    body: "When are you open?",
  });
  /** The page's part about that conversation, after the agent has finished. */
  const shown = async (): Promise<string> => {
    await clock.advance(10_000);
    const page = await (await fetch(url)).text();
    return page.split("<h2>").find((part) => part.includes(`/inbox/${conversation_id}/`)) ?? page;
  };
  expect(await shown()).toMatch(/handled by ai<.*<b>us<\/b> We are open Monday to Friday/);

  await engine.sandbox.inbound({ from: phone, body: "I have a complaint" });
  expect(await shown()).toMatch(/2 unread, handled by queue<.*<b>us<\/b> I&#39;m sorry about that/);

  const body = new URLSearchParams({ body: "Anna here. What went wrong?" });
  await fetch(`${url}/inbox/${conversation_id}/reply`, { method: "POST", body });
  await engine.sandbox.inbound({ from: phone, body: "When are you open?" });
  expect(await shown()).toMatch(
    /1 unread, handled by human<.*<b>us<\/b> Anna here.*<\/b> When are you open\?<\/p><form/,
  );
  const { data } = await engine.contacts.messages(contact_id);
  expect(data.map(({ author }) => author.type)).toEqual([
    "contact",
    "human",
    "agent",
    "contact",
    "agent",
    "contact",
  ]);
});
