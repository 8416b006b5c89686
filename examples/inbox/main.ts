/**
 * `node examples/inbox/main.ts [--once]` runs a shop on Express and SQLite. Each order and its
 * confirmation message share a transaction. The program places a few orders, lets customers reply,
 * answers one of them, and keeps serving the inbox. With `--once` it ends after that, with status 0
 * if everything worked.
 */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { inspect } from "node:util";
import { MessagingEngine } from "tidings";
import { sandbox } from "tidings/sandbox";
import { sqlite } from "tidings/sqlite";
import { shop } from "./app.ts";
import { createOrdersTable, listOrders } from "./orders.ts";

const isOnce = process.argv.includes("--once");
const waitTimeoutMs = 20_000;

const folder = await mkdtemp(join(tmpdir(), "tidings-"));
const file = join(folder, "shop.db");
const engine = new MessagingEngine({
  storage: sqlite({ file }),
  transports: [sandbox()],
});
await engine.start();
await createOrdersTable(engine);
const db = new DatabaseSync(file, { readOnly: true });
const server = createServer(shop(engine, db));
const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => stop.abort());
}
try {
  server.listen(Number(process.env["PORT"] ?? 0), "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  await runDemo(url);
  if (!isOnce) {
    console.log(`\nThe inbox: ${url}/   Press Ctrl+C to stop.`);
    await once(stop.signal, "abort");
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  server.close();
  await engine.stop();
  server.closeAllConnections();
  db.close();
  await rm(folder, { recursive: true, force: true });
}

async function runDemo(url: string): Promise<void> {
  const post = async (path: string, body: object): Promise<string> => {
    const headers = { "Content-Type": "application/json" };
    const response = await fetch(url + path, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      redirect: "manual",
    });
    return `${response.status} ${await response.text()}`.trim();
  };
  const order = async (phone: string, item: string): Promise<void> => {
    console.log(`${phone} orders a ${item}: ${await post("/orders", { phone, item })}`);
  };
  // In the sandbox, the second number sends a reply.
  await order("+15005550001", "kettle");
  await order("+15005550015", "teapot");
  console.log("Two orders that fail store no order and send no message:");
  await order("+15005550001", "teapot");
  await order("nobody", "cup");

  await until(() => listOrders(db).every(({ message_status }) => message_status === "delivered"));
  for (const { id, phone, item, message_status } of listOrders(db)) {
    console.log(`order ${id} (${item}, ${phone}): message ${message_status}`);
  }
  const { contact_id, conversation_id } = await engine.sandbox.inbound({
    from: "+15005550001",
    body: "Is it <b>really</b> coming today?\u001b]0;owned\u0007",
  });
  await until(async () => (await engine.conversations.list({ unread: true })).data.length === 2);
  await showInbox();

  const body = "It is! The van has just left.";
  await engine.conversations.reply(conversation_id, { body, author_id: "anna" });
  await engine.conversations.markRead(conversation_id);
  console.log(`\nAnna replies: ${body}`);
  await until(async () => {
    const { data } = await engine.messages.list({ contact_id, status: "delivered" });
    return data.length === 2;
  });
  await showInbox();
}

async function showInbox(): Promise<void> {
  const { data } = await engine.conversations.list();
  console.log("\nThe inbox, newest activity first:");
  for (const { contact, message_count, unread_count, handler, last_message } of data) {
    // `inspect` escapes control characters: a customer's text must not control the terminal.
    const [name, preview] = [inspect(contact.name), inspect(last_message?.preview)];
    console.log(
      `  ${name}  ${message_count} messages, ${unread_count} unread, ` +
        `handled by ${handler}: ${preview}`,
    );
  }
}

/** Waits until the condition holds. @throws Error after a timeout */
async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + waitTimeoutMs;
  while (!(await condition())) {
    if (stop.signal.aborted || Date.now() > deadline) {
      throw new Error("Stopped before the expected messages arrived.");
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
