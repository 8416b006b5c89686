/**
 * `npm start` runs an Express application with the engine inside, on a SQLite file. It sends
 * messages to its own REST API, shows their progress, lets an agent answer a customer, and keeps
 * serving. `npm start -- --once` ends when everything has finished, with status 0 if every result
 * is as expected.
 */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import express from "express";
import { MessagingEngine } from "tidings";
import { consoleHandler } from "tidings/console";
import { expressHandler } from "tidings/express";
import { inboxHandler } from "tidings/inbox";
import { sandbox } from "tidings/sandbox";
import { sqlite } from "tidings/sqlite";
import { standard } from "tidings/standard";
import { AgentChat } from "./agent-chat.ts";
import { Client } from "./client.ts";
import { display } from "./display.ts";
import { scenarios, slowScenario } from "./scenarios.ts";
import { bold, dim } from "./terminal.ts";
import { MessageTracker } from "./tracker.ts";

const isOnce = process.argv.includes("--once");
/** The port of `tidings dev`. */
const usualPort = 4010;

const folder = await mkdtemp(join(tmpdir(), "tidings-"));
const file = join(folder, "quickstart.db");
const chat = new AgentChat();
const { http, agents } = standard();
const engine = new MessagingEngine({
  storage: sqlite({ file }),
  transports: [sandbox()],
  // Webhooks may call this machine. By default they call public addresses only.
  http: { ...http, allow: ["127.0.0.1", "localhost"] },
  agents: { ...agents, actions: [chat.bookAppointment] },
});
// Without the option `authorize`, the pages work on this machine only, with a token.
const phones = consoleHandler(engine);
const inbox = inboxHandler(engine);
const app = express()
  .get("/", (_request, response) => response.redirect("/console/"))
  .use("/console", expressHandler(phones))
  .use("/inbox", expressHandler(inbox))
  .use(expressHandler(engine));
const server = createServer(app);

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => stop.abort());
}
try {
  await engine.start();
  await listen();
  process.exitCode = (await run()) ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  server.close();
  await engine.stop();
  server.closeAllConnections();
  await rm(folder, { recursive: true, force: true });
}

/** Listens on the port of the environment, or on the usual one, or else on a free one. */
async function listen(): Promise<void> {
  const given = process.env["PORT"];
  try {
    server.listen(Number(given ?? usualPort), "127.0.0.1");
    await once(server, "listening");
  } catch (error) {
    const isTaken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
    if (given !== undefined || !isTaken) throw error;
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  }
}

/** Returns whether every result was as expected. */
async function run(): Promise<boolean> {
  const key = await engine.apiKeys.create({ name: "Quickstart" });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const client = new Client(url, key.secret);
  const tracker = trackMessages();
  printHeading();
  const isReplayed = await sendAll(client, tracker);
  const chatting = chat.run(engine, stop.signal);
  const invitation = [
    "",
    ` ${bold("Phones")}  ${url}/console/#token=${phones.token}`,
    ` ${bold("Inbox")}   ${url}/inbox/#token=${inbox.token}`,
    ` ${bold("API")}     ${url}/v1  ${dim("described in /v1/openapi.json")}`,
    "",
    ...client.curl({ to: "+15005550001", body: "Hello" }),
    "",
  ];
  await display(tracker, {
    notes: () => notes(isReplayed),
    invitation: isOnce ? [] : invitation,
    next: isOnce
      ? ` ${bold("Try next:")} npm start. It keeps serving and shows what you send with curl.`
      : ` ${bold("Try next:")} open the phones, or paste the curl command. Press Ctrl+C to stop.`,
    isFinished: () => tracker.hasPassed() && chat.passed !== undefined,
    isOnce,
    stopped: stop.signal,
  });
  await chatting;
  return !isOnce || (isReplayed && tracker.hasPassed() && chat.passed === true);
}

/** Follows every message of the engine, also those that the reader sends by hand. */
function trackMessages(): MessageTracker {
  const tracker = new MessageTracker(engine);
  engine.on("message.updated", ({ data }) => tracker.add(data.message_id));
  engine.on("message.received", ({ data }) => {
    tracker.addReply(data.contact.phone ?? "", data.body);
  });
  return tracker;
}

function printHeading(): void {
  console.log(
    `\n ${bold("tidings")}  messages from POST to delivery, in one process on SQLite\n ` +
      `${dim(file)}\n`,
  );
}

/**
 * Sends a message for each scenario, and repeats the first request. Returns whether the server
 * repeated its response, instead of sending a second message.
 */
async function sendAll(client: Client, tracker: MessageTracker): Promise<boolean> {
  const sends = [...scenarios, ...(isOnce ? [] : [slowScenario])].map(async (scenario) => {
    const { message } = await client.send(
      { to: scenario.to, body: "Your table is ready." },
      `table-${scenario.to}`,
    );
    tracker.addScenario(message.id, scenario);
    return message;
  });
  const [first] = await Promise.all(sends);
  if (first === undefined) return false;
  const input = { to: first.to, body: first.body ?? "" };
  const repeated = await client.send(input, `table-${first.to}`);
  return repeated.replayed && repeated.message.id === first.id;
}

/** The lines below the board. */
function notes(isReplayed: boolean): string[] {
  const replay = isReplayed ? `same id, ${bold("Idempotent-Replayed: true")}` : "NOT replayed";
  return [
    "",
    dim(" ✓ expected result   ? ambiguous: the carrier's response was lost"),
    dim(" (…) a duplicate or late receipt: recorded in the timeline, status unchanged"),
    "",
    ` The first POST, repeated with the same Idempotency-Key: ${replay}`,
    ...chat.lines,
  ];
}
