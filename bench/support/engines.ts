import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MessagingEngine } from "../../adapters/entry.ts";
import { memory } from "../../adapters/storage/memory/index.ts";
import { sqlite } from "../../adapters/storage/sqlite/index.ts";
import { system } from "../../adapters/system/index.ts";
import { stderrLogger } from "../../adapters/system/stderr-logger.ts";
import type { EngineOptions } from "../../src/host/options/options.ts";
import type { Logger } from "../../src/ports/logger.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import type { Transport } from "../../src/ports/transport.ts";
import { concurrently, countdown, scaled, stopwatch, type Work } from "./measure.ts";

export type StorageName = "memory" | "SQLite";

/** Calls `use` with a database file in a temporary directory, which is removed afterwards. */
export async function withTempFile<T>(use: (file: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), "tidings-bench-"));
  try {
    return await use(join(directory, "bench.db"));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Logs errors only: an engine that accepts messages and never starts would warn of that. */
export const errorLogger: Logger = { ...stderrLogger(), warn() {} };

/** The settings of a dispatcher: a job for every waiting caller, all in one account. */
export const dispatcherSettings = { concurrency: 256, laneConcurrency: 256 } as const;

export type ExtraOptions = Pick<
  EngineOptions,
  "concurrency" | "laneConcurrency" | "http" | "webhooks" | "agents" | "policies"
> & { readonly transports?: readonly Transport[] };

export function withEngine<T>(
  storage: StorageName,
  use: (engine: MessagingEngine) => Promise<T>,
  options: ExtraOptions = {},
): Promise<T> {
  return withTempFile((file) =>
    withEngineOn(storage === "memory" ? memory() : sqlite({ file }), use, options),
  );
}

export async function withEngineOn<T>(
  storage: StoragePort,
  use: (engine: MessagingEngine) => Promise<T>,
  options: ExtraOptions = {},
): Promise<T> {
  await using engine = new MessagingEngine({
    storage,
    transports: [instantCarrier()],
    logger: errorLogger,
    ...system(),
    ...options,
  });
  return await use(engine);
}

/** A carrier that accepts everything at once and sends no receipts, so accepted means delivered. */
export function instantCarrier(): Transport {
  return {
    name: "sandbox",
    capabilities: {
      channels: ["sms", "mms"],
      modes: ["sandbox"],
      receipts: "none",
      confirms_opt_outs: false,
    },
    send: (_message, { attempt_id }) =>
      Promise.resolve({ outcome: "accepted", provider_message_id: attempt_id }),
  };
}

export type Recipients = "existing" | "new";

/** How many contacts `createContacts` makes. */
export const existingContacts = scaled(1_000);
const firstNew = 2_000_000;

/** The recipient of the `i`th message: one of the existing contacts, or a new one. */
export function recipient(recipients: Recipients, i: number): string {
  const number = recipients === "existing" ? i % existingContacts : firstNew + i;
  return `+1212${String(number).padStart(7, "0")}`;
}

export const text = "Your table for two is booked for 7 pm. See you then!";

/** Makes the existing contacts by sending a message to each. */
export async function createContacts({ messages }: MessagingEngine): Promise<void> {
  await Promise.all(
    Array.from({ length: existingContacts }, (_, i) =>
      messages.send({ to: recipient("existing", i), body: text }),
    ),
  );
}

export async function send(
  { messages }: MessagingEngine,
  recipients: Recipients,
  i: number,
): Promise<void> {
  await messages.send(
    { to: recipient(recipients, i), body: text },
    { idempotencyKey: `send-${i}` },
  );
}

/**
 * Starts an engine that has the contacts, and waits until it has delivered their first messages.
 * Then sends `items` messages, `atOnce` at a time, and measures until the last one is delivered.
 * Calls `begin` before the first of them.
 */
export async function deliver(
  engine: MessagingEngine,
  recipients: Recipients,
  items: number,
  atOnce: number,
  begin = (): void => {},
): Promise<Work> {
  const first = countdown(existingContacts);
  const all = countdown(items);
  let delivered = first.count;
  engine.on("message.sent", () => delivered());
  await engine.start();
  await first.done;
  delivered = all.count;
  begin();
  const elapsed = stopwatch();
  await concurrently(items, atOnce, (i) => send(engine, recipients, i));
  await all.done;
  return { items, ...elapsed() };
}
