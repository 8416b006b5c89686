import { join } from "node:path";
import { expect, test } from "vitest";
import { seed } from "../../adapters/cli/dev/seed/seed.ts";
import type {
  Agent,
  Contact,
  Conversation,
  DeliveryWithAttempts,
  Message,
  Page,
  Run,
  Webhook,
} from "../../adapters/entry.ts";
import { standard } from "../../adapters/standard.ts";
import { sqlite } from "../../adapters/storage/sqlite/index.ts";
import { sandbox } from "../../adapters/transport/sandbox/index.ts";
import { dev, scratch, type Dev } from "./tidings.ts";

async function all<T>(server: Dev, path: string): Promise<T[]> {
  const items: T[] = [];
  for (let cursor = ""; ;) {
    const separator = path.includes("?") ? "&" : "?";
    const query = `${separator}limit=100${cursor === "" ? "" : `&cursor=${cursor}`}`;
    const page = (await (await server.get(`${path}${query}`)).json()) as Page<T>;
    items.push(...page.data);
    if (page.next_cursor === null) return items;
    cursor = page.next_cursor;
  }
}

test("--seed fills a new file with a company whose every part is in use, and only once", async () => {
  const folder = await scratch();
  const server = await dev(folder, "--seed");

  const conversations = await all<Conversation>(server, "/conversations");
  const having = (test: (each: Conversation) => boolean): number =>
    conversations.filter(test).length;
  expect(conversations.length).toBeGreaterThan(20);
  expect(having(({ handler }) => handler === "queue")).toBeGreaterThanOrEqual(3);
  for (const handler of ["ai", "human", "none"]) {
    expect(having((each) => each.handler === handler)).toBeGreaterThan(1);
  }
  for (const status of ["open", "snoozed", "closed"]) {
    expect(having((each) => each.status === status)).toBeGreaterThan(0);
  }
  expect(having(({ medium }) => medium === "webchat")).toBeGreaterThan(1);
  expect(having(({ labels }) => labels.length > 0)).toBeGreaterThan(5);
  expect(having(({ priority }) => priority === "urgent")).toBe(1);

  const messages = await all<Message>(server, "/messages");
  const statuses = new Set(messages.map(({ status }) => status));
  expect([...statuses]).toEqual(
    expect.arrayContaining([
      "scheduled",
      "failed",
      "undelivered",
      "unconfirmed",
      "delivered",
      "read",
      "received",
    ]),
  );
  const authors = new Set(messages.map(({ author }) => author?.type));
  expect([...authors]).toEqual(expect.arrayContaining(["api", "human", "agent", "contact"]));
  const times = messages.map(({ created_at }) => Date.parse(created_at));
  expect(Math.max(...times), "nothing is in the future").toBeLessThanOrEqual(Date.now());
  expect(Date.now() - Math.min(...times), "it took several days").toBeGreaterThan(3 * 86_400_000);
  expect(times, "lists are in the order of time").toEqual(times.toSorted((a, b) => b - a));

  const [agent] = await all<Agent>(server, "/agents");
  const runs = await all<Run>(server, `/agents/${agent?.id ?? ""}/runs`);
  expect(new Set(runs.map(({ status }) => status))).toEqual(
    new Set(["completed", "handed_off", "awaiting_approval"]),
  );
  const webhooks = await all<Webhook>(server, "/webhooks");
  const deliveries = await Promise.all(
    webhooks.map(({ id }) => all<DeliveryWithAttempts>(server, `/webhooks/${id}/deliveries`)),
  );
  const outcomes = new Set(deliveries.flat().map(({ status }) => status));
  expect(outcomes).toEqual(new Set(["succeeded", "failed"]));

  const contacts = await all<Contact>(server, "/contacts");
  expect(contacts.some(({ opted_out }) => opted_out)).toBe(true);
  await server.interrupt();

  const again = await dev(folder, "--seed");
  await again.printed(/has contacts already, so --seed added nothing/);
  expect(await all<Contact>(again, "/contacts")).toHaveLength(contacts.length);
  const moved = await all<Webhook>(again, "/webhooks");
  expect(
    moved.every(({ url }) => url.startsWith(again.url)),
    "its webhooks follow the port",
  ).toBe(true);
});

test("of two processes that fill a new file at once, one fills it", async () => {
  const file = join(await scratch(), "tidings.db");
  const { agents, sentiment } = standard();
  // The history is not played.
  const stopped = AbortSignal.abort();
  const fill = (): Promise<boolean> => {
    const options = { storage: sqlite({ file }), transports: [sandbox()], agents, sentiment };
    return seed(options, "http://localhost:4010", stopped);
  };
  const filled = await Promise.all([fill(), fill()]);
  expect(filled.toSorted()).toEqual([false, true]);
});
