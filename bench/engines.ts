import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memory } from "../adapters/storage/memory/index.ts";
import { sqlite } from "../adapters/storage/sqlite/index.ts";
import { system } from "../adapters/system/index.ts";
import { MessagingEngine } from "../adapters/entry.ts";
import type { EngineOptions } from "../src/options.ts";
import type { StoragePort } from "../src/ports/storage.ts";
import type { Transport } from "../src/ports/transport.ts";

export type StorageName = "memory" | "SQLite";

/** A place for a database, on the disk that the machine's temporary files are on. */
export async function scratch<T>(use: (file: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), "tidings-bench-"));
  try {
    return await use(join(directory, "bench.db"));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

export type Extras = Pick<
  EngineOptions,
  "concurrency" | "laneConcurrency" | "http" | "webhooks" | "agents"
>;

export function withEngine<T>(
  storage: StorageName,
  use: (engine: MessagingEngine) => Promise<T>,
  extras: Extras = {},
): Promise<T> {
  return scratch((file) =>
    withEngineOn(storage === "memory" ? memory() : sqlite({ file }), use, extras),
  );
}

export async function withEngineOn<T>(
  storage: StoragePort,
  use: (engine: MessagingEngine) => Promise<T>,
  extras: Extras = {},
): Promise<T> {
  await using engine = new MessagingEngine({
    storage,
    transports: [instant()],
    ...system(),
    ...extras,
  });
  return await use(engine);
}

/** A carrier that takes everything at once and sends no receipts: what it takes counts as delivered. */
export function instant(): Transport {
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

/** Contacts that are there before anything is measured. */
export const known = 1_000;
const firstNew = 2_000_000;

/** The `i`th message's recipient. */
export function recipient(recipients: Recipients, i: number): string {
  return `+1212${String(recipients === "existing" ? i % known : firstNew + i).padStart(7, "0")}`;
}

export const text = "Your table for two is booked for 7 pm. See you then!";

/** Makes the known contacts, with a message each. */
export async function meet({ messages }: MessagingEngine): Promise<void> {
  await Promise.all(
    Array.from({ length: known }, (_, i) =>
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
