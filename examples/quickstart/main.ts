/**
 * `npm start`: an Express application with the engine inside, on a SQLite file. It sends to itself over HTTP, shows what
 * becomes of each message, has an agent answer somebody, and goes on serving. `npm start -- --once` ends when all have ended, with status 0 if all
 * ended as they should.
 */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import express from "express";
import { MessagingEngine } from "tidings";
import { expressHandler } from "tidings/express";
import { httpClient } from "tidings/http-client";
import { rules } from "tidings/models";
import { sandbox } from "tidings/sandbox";
import { sqlite } from "tidings/sqlite";
import { system } from "tidings/system";
import { Chat } from "./chat.ts";
import { Client } from "./client.ts";
import { Journal } from "./journal.ts";
import { scenarios, slow } from "./scenarios.ts";
import { show } from "./show.ts";
import { bold, dim } from "./terminal.ts";

const isOnce = process.argv.includes("--once");

const folder = await mkdtemp(join(tmpdir(), "tidings-"));
const file = join(folder, "quickstart.db");
// So that a webhook may be on this machine too.
const http = { client: httpClient(), allow: ["127.0.0.1", "localhost"] };
const chat = new Chat();
const agents = { model: rules(), actions: [chat.booking] };
const engine = new MessagingEngine({
  storage: sqlite({ file }),
  transports: [sandbox()],
  ...system(),
  http,
  agents,
});
const server = createServer(express().use(expressHandler(engine)));

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => stop.abort());
}
try {
  await engine.start();
  server.listen(Number(process.env["PORT"] ?? 0), "127.0.0.1");
  await once(server, "listening");
  process.exitCode = (await run()) ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  server.close();
  server.closeAllConnections();
  await engine.stop();
  await rm(folder, { recursive: true, force: true });
}

/** Answers whether all went as it should. */
async function run(): Promise<boolean> {
  const { account, key } = await engine.accounts.create({ name: "Quickstart" });
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : address}`;
  const client = new Client(url, key.secret ?? "");

  const journal = new Journal(engine.account(account.id));
  engine.on("message.updated", ({ data }, { account_id }) => {
    if (account_id === account.id) journal.add(data.message_id);
  });
  engine.on("message.received", ({ data }, { account_id }) => {
    if (account_id === account.id) journal.hear(data.contact.phone ?? "", data.body);
  });

  console.log(
    `\n ${bold("tidings")}  from POST to delivered, in one process on SQLite\n ${dim(file)}\n`,
  );
  const sends = [...scenarios, ...(isOnce ? [] : [slow])].map(async (scenario) => {
    const { message } = await client.send(
      { to: scenario.to, body: "Your table is ready." },
      `table-${scenario.to}`,
    );
    journal.expect(message.id, scenario);
    return message;
  });
  const [first] = await Promise.all(sends);
  const again =
    first && (await client.send({ to: first.to, body: first.body ?? "" }, `table-${first.to}`));
  const isReplayed = again?.replayed === true && again.message.id === first?.id;

  const shop = await engine.accounts.create({ name: "Plant shop" });
  const talking = chat.run(engine.account(shop.account.id), stop.signal);
  const notes = (): string[] => [
    "",
    dim(" (…) came twice or too late: in the timeline, without effect.  ✓ as it should"),
    ` First POST again, same Idempotency-Key: ${isReplayed ? `same id, ${bold("Idempotent-Replayed: true")}` : "NOT replayed"}`,
    ...chat.lines,
  ];
  const invitation = [
    "",
    ` ${bold("Your turn:")} +15005550020 is a bot that answers everything.`,
    ...client.curl({ to: "+15005550020", body: "Hello" }),
    dim(` Serving ${url}/v1 (OpenAPI: /v1/openapi.json). Ctrl-C ends.`),
  ];
  const isSettled = (): boolean => journal.isSettled() && chat.passed !== undefined;
  await show(journal, {
    notes,
    invitation: isOnce ? [] : invitation,
    isSettled,
    isOnce,
    stopped: stop.signal,
  });
  await talking;
  return !isOnce || (isReplayed && journal.isSettled() && chat.passed === true);
}
