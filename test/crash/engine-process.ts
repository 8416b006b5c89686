/**
 * The process that is killed: an engine on the storage, served over HTTP. Told by its one argument, in JSON, where everything is; says
 * `ready` with its port when it serves. With `setup` it makes the account instead, says its API key, and ends.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { httpClient } from "../../adapters/http-client/index.ts";
import { nodeHandler } from "../../adapters/http/node.ts";
import { MessagingEngine } from "../../adapters/entry.ts";
import { system } from "../../adapters/system/index.ts";
import { TidingsError } from "../../src/kernel/errors.ts";
import type { Logger } from "../../src/ports/logger.ts";
import { type Epoch, fastClock } from "./clock.ts";
import { listen } from "./http.ts";
import { outsideTransport } from "./outside-transport.ts";
import { transportName } from "./protocol.ts";
import { endpoints } from "./receiver.ts";
import { openStorage, type StorageSettings } from "./storages.ts";

export interface ProcessSettings {
  readonly storage: StorageSettings;
  readonly carrier: string;
  /** Where webhooks' events are sent, each to a path of its own. */
  readonly receiver: string;
  readonly epoch: Epoch;
  readonly port: number;
  readonly setup: boolean;
}

const { storage, carrier, receiver, epoch, port, setup } = JSON.parse(
  process.argv[2] ?? "",
) as ProcessSettings;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
/** What goes away by itself is meant to happen here. */
const complain = (facts: object, message: string): void => {
  if (Object.values(facts).some((each) => each instanceof TidingsError && each.retryable)) return;
  process.stderr.write(
    `${message}: ${JSON.stringify(facts, (_, value: unknown) => (value instanceof Error ? String(value.stack) : value))}\n`,
  );
};
const logger: Logger = { debug() {}, info() {}, warn() {}, error: complain };

const engine = new MessagingEngine({
  storage: openStorage(storage),
  transports: [outsideTransport(carrier)],
  clock: fastClock(epoch),
  random: system().random,
  logger,
  mode: "live",
  http: { client: httpClient(), allow: ["localhost"] },
  // By the engines' fast clock: a machine that is busy for a moment answers late.
  webhooks: { deadlineSeconds: 60 },
});

if (setup) {
  const plan = { name: "unhurried", requests_per_second: 100_000 };
  const { account } = await engine.accounts.create({ name: "Crash", plan });
  const { senders, apiKeys, webhooks } = engine.account(account.id);
  await senders.create({ address: "+15005550199", channels: ["sms"], transport: transportName });
  for (const { name, events, ordering } of endpoints) {
    await webhooks.create({ url: `${receiver}/${name}`, events: [...events], ordering });
  }
  const { secret } = await apiKeys.create({ name: "judge" });
  await engine.stop();
  say(secret ?? "");
} else {
  await started();
  const { server, port: taken } = await listen(nodeHandler(engine), port);
  process.once("SIGTERM", () => {
    server.close();
    server.closeIdleConnections();
    void engine.stop().then(() => process.exit(0));
  });
  say(`ready ${taken}`);
}

/** A storage that can't be reached just now is tried again, as whoever runs such a process does. */
async function started(): Promise<void> {
  for (;;) {
    try {
      return await engine.start();
    } catch (error) {
      if (!(error instanceof TidingsError) || !error.retryable) throw error;
      await sleep(100);
    }
  }
}
