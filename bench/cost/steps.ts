/** The steps of the lives of messages, one after the other, so that each can be measured alone. */
import type { MessagingEngine } from "../../src/engine.ts";
import type { HttpClient } from "../../src/ports/http-client.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import type { Transport } from "../../src/ports/transport.ts";
import {
  instantCarrier,
  recipient,
  text,
  withEngineOn,
  type Recipients,
} from "../support/engines.ts";
import { concurrently } from "../support/measure.ts";

/** Measures one step, which happens `items` times. */
export type Measure = (step: string, items: number, work: () => Promise<void>) => Promise<void>;

const atOnce = 64;

/** Accepts, hands over and settles messages, by a carrier that answers when the step begins. */
export async function messageSteps(
  storage: StoragePort,
  recipients: Recipients,
  items: number,
  measure: Measure,
): Promise<void> {
  const carrier = heldCarrier();
  const room = { concurrency: 2 * items, laneConcurrency: 2 * items };
  await withEngineOn(
    storage,
    async (engine) => {
      const ids: string[] = [];
      const send = async (i: number): Promise<void> => {
        const idempotencyKey = `send-${i}`;
        const to = recipient(recipients, i);
        ids.push((await engine.messages.send({ to, body: text }, { idempotencyKey })).id);
      };
      if (recipients === "existing") {
        await concurrently(items, atOnce, (i) =>
          engine.contacts.create({ phone: recipient(recipients, i) }),
        );
      }
      const sent = statuses(engine, "sent", items);
      await measure("accept", items, async () => void (await concurrently(items, atOnce, send)));
      const called = carrier.called(items);
      await measure("lease and hand over", items, async () => {
        await engine.start();
        await called;
      });
      await measure("record the answer", items, async () => {
        carrier.answer();
        await sent;
      });
      await measure("receipt", items, async () => {
        await concurrently(items, atOnce, (i) =>
          engine.sandbox.receipts(ids[i] ?? "", [{ status: "delivered" }]),
        );
      });
    },
    { ...room, transports: [carrier.transport] },
  );
}

/** Creates contacts, whose events go to a webhook if there is one. */
export async function eventSteps(
  storage: StoragePort,
  items: number,
  measure: Measure,
): Promise<void> {
  const receiver = countingReceiver();
  await withEngineOn(
    storage,
    async (engine) => {
      await engine.start();
      const create = (from: number): Promise<unknown> =>
        concurrently(items, atOnce, (i) =>
          engine.contacts.create({ phone: recipient("new", from + i) }),
        );
      await measure("contact", items, async () => void (await create(0)));
      await engine.webhooks.create({ url: "https://receiver.example/", events: ["*"] });
      await measure("contact with a webhook", items, async () => {
        const received = receiver.received(items);
        await create(items);
        await received;
        // Records the last outcomes.
        await engine.stop({ deadlineMs: 10_000 });
      });
    },
    { http: { client: receiver.client } },
  );
}

/** Receives messages, to which an agent replies if there is one. */
export async function agentSteps(
  storage: StoragePort,
  items: number,
  measure: Measure,
): Promise<void> {
  await withEngineOn(
    storage,
    async (engine) => {
      await engine.start();
      const ask = (from: number): Promise<unknown> =>
        concurrently(items, atOnce, (i) =>
          engine.sandbox.inbound({ from: recipient("new", from + i), body: "Are you open?" }),
        );
      await measure("inbound", items, async () => void (await ask(0)));
      await engine.agents.create({ name: "Ada", channels: ["sms"], reply: { debounce_ms: 0 } });
      await measure("inbound with an agent", items, async () => {
        const answered = statuses(engine, "delivered", items);
        await ask(items);
        await answered;
      });
    },
    { agents: { model: () => ({ text: "Yes, until 7 pm." }) } },
  );
}

/** Resolves when `items` messages have got a status. */
function statuses(engine: MessagingEngine, status: string, items: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let left = items;
  engine.on("message.updated", ({ data }) => {
    if (data.status === status && --left === 0) resolve();
  });
  return promise;
}

/** A carrier that sends receipts, and whose answers wait for `answer`. */
function heldCarrier() {
  const answers = Promise.withResolvers<void>();
  const calls = countdown();
  const transport: Transport = {
    ...instantCarrier(),
    capabilities: {
      ...instantCarrier().capabilities,
      receipts: { timeout_ms: 3_600_000, lookups_ms: [] },
    },
    async send(_message, { attempt_id }) {
      calls.count();
      await answers.promise;
      return { outcome: "accepted", provider_message_id: attempt_id };
    },
  };
  return { transport, called: calls.reach, answer: () => answers.resolve() };
}

/** A client that answers 200 to every request. */
function countingReceiver() {
  const requests = countdown();
  const head = { outcome: "answered", status: 200, headers: {}, truncated: false } as const;
  const client: HttpClient = {
    async send() {
      requests.count();
      return { ...head, body: Buffer.alloc(0), address: "192.0.2.1" };
    },
    close() {},
  };
  return { client, received: requests.reach };
}

function countdown() {
  let left = 0;
  let reached = (): void => {};
  return {
    count: (): void => {
      if (--left === 0) reached();
    },
    reach: (items: number): Promise<void> => {
      left = items;
      return new Promise((resolve) => void (reached = resolve));
    },
  };
}
