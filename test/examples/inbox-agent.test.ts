/** The inbox of examples/inbox, where an agent works beside the shop's people. */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { rules } from "tidings/models";
import { expect, onTestFinished, test } from "vitest";
import { MessagingEngine } from "../../adapters/entry.ts";
import { sqlite } from "../../adapters/storage/sqlite/index.ts";
import { simulated } from "../../adapters/testing/index.ts";
import { sandbox } from "../../adapters/transport/sandbox/index.ts";
import { shop } from "../../examples/inbox/app.ts";
import { stopped } from "../support/engines/world.ts";

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
  const signedIn = await fetch(`${url}/sign-in`, {
    method: "POST",
    redirect: "manual",
    body: new URLSearchParams({ id: "anna" }),
  });
  const headers = {
    Cookie: signedIn.headers.get("set-cookie")?.split(";")[0] ?? "",
    "Content-Type": "application/json",
    "Tidings-Page": "1",
    "Sec-Fetch-Site": "same-origin",
  };
  const path = `${url}/inbox/v1/conversations/${conversation_id}`;
  /** What the inbox shows of that conversation after the agent has finished. */
  const shown = async (): Promise<unknown> => {
    await clock.advance(10_000);
    return (await fetch(path, { headers })).json();
  };
  const lastText = (text: string): object => ({
    last_message: { preview: expect.stringContaining(text) as unknown },
  });
  expect(await shown()).toMatchObject({
    handler: "ai",
    ...lastText("We are open Monday to Friday"),
  });

  await engine.sandbox.inbound({ from: phone, body: "I have a complaint" });
  expect(await shown()).toMatchObject({
    handler: "queue",
    unread_count: 2,
    ...lastText("I'm sorry about that"),
  });

  const body = JSON.stringify({ body: "Anna here. What went wrong?" });
  expect((await fetch(`${path}/messages`, { method: "POST", headers, body })).status).toBe(201);
  await engine.conversations.markRead(conversation_id);
  await engine.sandbox.inbound({ from: phone, body: "When are you open?" });
  expect(await shown()).toMatchObject({
    handler: "human",
    assignee: { type: "human", id: "anna" },
    unread_count: 1,
    ...lastText("When are you open?"),
  });
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
