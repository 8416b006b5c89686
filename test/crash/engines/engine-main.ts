/**
 * The program of the process that is killed: an engine behind an HTTP server. Its one argument is
 * `ProcessSettings` as JSON. It prints `ready` and its port once it accepts requests. With `setup`
 * it only creates the account, prints the API key, and exits. It runs the built package, which
 * starts faster than the sources.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { MessagingEngine, TidingsError, type Logger } from "tidings";
import { httpClient } from "tidings/http-client";
import { nodeHandler } from "tidings/node";
import { system } from "tidings/system";
import { fastClock, type Epoch } from "../clock.ts";
import { listen } from "../outside/http.ts";
import { endpoints, transportName } from "../outside/protocol.ts";
import { openStorage, type StorageSettings } from "../storages/storages.ts";
import { outsideTransport } from "./outside-transport.ts";

export interface ProcessSettings {
  readonly storage: StorageSettings;
  readonly carrier: string;
  /** The base URL of the webhook receivers. Each webhook has its own path. */
  readonly receiver: string;
  readonly epoch: Epoch;
  readonly setup: boolean;
}

const { storage, carrier, receiver, epoch, setup } = JSON.parse(
  process.argv[2] ?? "",
) as ProcessSettings;

const print = (line: string): void => void process.stdout.write(`${line}\n`);
/** Retryable errors are expected here, so they are not printed. */
const printError = (facts: object, message: string): void => {
  if (Object.values(facts).some((each) => each instanceof TidingsError && each.retryable)) return;
  process.stderr.write(
    `${message}: ${JSON.stringify(facts, (_, value: unknown) => (value instanceof Error ? String(value.stack) : value))}\n`,
  );
};
const logger: Logger = { debug() {}, info() {}, warn() {}, error: printError };

const engine = new MessagingEngine({
  storage: await openStorage(storage),
  transports: [outsideTransport(carrier)],
  clock: fastClock(epoch),
  random: system().random,
  logger,
  mode: "live",
  http: { client: httpClient(), allow: ["localhost"] },
  // By the fast clock. Shorter deadlines would fail whenever the machine is busy for a moment.
  webhooks: { deadlineSeconds: 60 },
});

/** How often a start is tried. Then the process ends, and its supervisor starts another one. */
const startTries = 50;

if (setup) {
  const plan = { name: "crash test", requests_per_second: 100_000 };
  const { account } = await engine.accounts.create({ name: "Crash", plan });
  const { senders, apiKeys, webhooks } = engine.account(account.id);
  await senders.create({ address: "+15005550199", channels: ["sms"], transport: transportName });
  for (const { name, events, ordering } of endpoints) {
    await webhooks.create({ url: `${receiver}/${name}`, events: [...events], ordering });
  }
  const { secret } = await apiKeys.create({ name: "judge" });
  await engine.stop();
  print(secret);
} else {
  await start();
  const { server, port } = await listen(nodeHandler(engine));
  process.once("SIGTERM", () => {
    server.close();
    server.closeIdleConnections();
    void engine.stop().then(() => process.exit(0));
  });
  print(`ready ${port}`);
}

/** Retries while the storage cannot be reached. */
async function start(): Promise<void> {
  for (let left = startTries; ; left--) {
    try {
      return await engine.start();
    } catch (error) {
      if (!(error instanceof TidingsError) || !error.retryable || left === 0) throw error;
      await sleep(100);
    }
  }
}
