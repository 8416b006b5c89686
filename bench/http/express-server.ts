/**
 * A server process for `express.ts` and `streams.ts`: the engine on Express, and a bare handler
 * beside it. Its arguments are the database file, or empty for memory storage, and the number of
 * further accounts, with ten API keys each. It prints its port and the API keys as JSON. Its parent
 * sends `begin` and `end`, with or without a profile, and gets the CPU time in between. It needs
 * `--expose-gc`.
 */
import { Session } from "node:inspector/promises";
import expressApp from "express";
import { MessagingEngine } from "../../adapters/entry.ts";
import { expressHandler } from "../../adapters/http/express.ts";
import { memory } from "../../adapters/storage/memory/index.ts";
import { sqlite } from "../../adapters/storage/sqlite/index.ts";
import { system } from "../../adapters/system/index.ts";
import {
  createContacts,
  errorLogger,
  instantCarrier,
  recipient,
  text,
} from "../support/engines.ts";
import { stepTimes, type StepTimes } from "./steps.ts";

/** The CPU time of the server, in microseconds. */
export interface ServerCpu {
  readonly total: number;
  /** By step, if a profile was asked for. */
  readonly steps?: StepTimes;
}

const [file = "", accounts = "0"] = process.argv.slice(2);
const storage = file === "" ? memory() : sqlite({ file });
const engine = new MessagingEngine({
  storage,
  transports: [instantCarrier()],
  logger: errorLogger,
  ...system(),
});
await createContacts(engine);
const plan = { name: "benchmark", requests_per_second: 100_000 };
const { account, key } = await engine.accounts.create({ name: "Bench", plan });
const sample = await engine
  .account(account.id)
  .messages.send({ to: recipient("existing", 0), body: text });

const streamKeys = async (id: string): Promise<(string | null)[]> => {
  const made: (string | null)[] = [];
  for (let i = 0; i < 10; i++) {
    const { secret } = await engine
      .account(id)
      .apiKeys.create({ name: `Key ${i}`, scopes: ["events:read"] });
    made.push(secret);
  }
  return made;
};
const own = await streamKeys(account.id);
const others: (string | null)[] = [];
for (let i = 0; i < Number(accounts); i++) {
  const other = await engine.accounts.create({ name: `Other ${i}`, plan });
  others.push(...(await streamKeys(other.account.id)));
}

const app = expressApp();
app.post("/bare", expressApp.json(), (request, response) => {
  const { to, body } = request.body as { to: string; body: string };
  response.status(201).json({ ...sample, to, body });
});
app.use(expressHandler(engine));
const server = app.listen(0, "127.0.0.1", () => {
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  process.stdout.write(`${JSON.stringify({ port, secret: key.secret, own, others })}\n`);
});

const session = new Session();
session.connect();
await session.post("Profiler.setSamplingInterval", { interval: 200 });
let before = process.cpuUsage();
let isProfiled = false;
async function end(): Promise<ServerCpu> {
  const { user, system: kernel } = process.cpuUsage(before);
  if (!isProfiled) return { total: user + kernel };
  const { profile } = await session.post("Profiler.stop");
  return { total: user + kernel, steps: stepTimes(profile) };
}
type Message = { readonly begin: { readonly profile: boolean } } | "end";
async function answer(message: Message): Promise<void> {
  if (message === "end") {
    process.send?.(await end());
    return;
  }
  isProfiled = message.begin.profile;
  if (isProfiled) {
    await session.post("Profiler.enable");
    await session.post("Profiler.start");
  }
  // What was done before, such as opening streams, must not be paid for in between.
  globalThis.gc?.();
  before = process.cpuUsage();
  process.send?.("begun");
}
process.on("message", (message: Message) => void answer(message));
process.once("disconnect", () => process.exit());
process.once("SIGTERM", () => {
  server.closeAllConnections();
  server.close();
  void engine.stop().then(() => process.exit(0));
});
