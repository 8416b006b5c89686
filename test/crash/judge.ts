/**
 * Kills engines at random times while clients send over HTTP, a carrier answers and receivers are told by webhooks, and judges by what
 * these saw and what the storage holds. Clients, carrier, receivers and judge live in this process and are never killed.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { Carrier, type Ledger } from "./carrier.ts";
import { Acknowledgements, runClient } from "./client.ts";
import { epoch, fastClock } from "./clock.ts";
import type { Disturbance } from "./delivery-verdict.ts";
import { Dice } from "./dice.ts";
import type { ProcessSettings } from "./engine-process.ts";
import { type Post, Receiver } from "./receiver.ts";
import type { CrashedStorage } from "./storages.ts";

import { judge, type Verdict } from "./verdict.ts";
import type { View } from "./view.ts";

export interface CrashOptions {
  readonly storage: CrashedStorage;
  readonly kills: number;
  /** Whether the storage's connections are cut meanwhile. */
  readonly cut?: boolean;
  readonly seed: number;
  /** Told of each kill. */
  readonly log?: (line: string) => void;
}

export interface Report extends Verdict {
  readonly kills: number;
  readonly acknowledged: number;
  readonly ledger: Ledger;
  readonly posts: readonly Post[];
}

/** So many times as fast as real time the engines live: a lease lasts 3 s, and a look-up waits another 3 s. */
const rate = 20;
const clients = 12;
/** From a start to its kill at most, and the longest that a kill comes before the process serves. */
const longestLifeMs = 1_400;
const longestStartMs = 400;
const convergesWithinMs = 90_000;
/** How long after connections were cut, or the server crashed, engines may still not get through to it; engine's milliseconds. */
const outOfReachMs = 60_000;

export async function crash({
  storage,
  kills,
  cut = false,
  seed,
  log = () => {},
}: CrashOptions): Promise<Report> {
  const time = epoch(rate);
  const dice = new Dice(seed);
  const engines: EngineProcess[] = [];
  const anyEngine = (): string => engines[dice.whole(0, engines.length)]?.url ?? "";
  let view: View | undefined;
  const carrier = new Carrier({
    dice: new Dice(seed + 1),
    clock: fastClock(time),
    hasAttempt: async (id) => view?.hasAttempt(id) ?? true,
    engine: anyEngine,
  });
  const { server, url } = await carrier.listen();
  const receiver = await Receiver.open(fastClock(time), new Dice(seed + 2_000));
  const cache = await mkdtemp(join(tmpdir(), "tidings-compiled-"));
  const certificate = join(cache, "authority.pem");
  await writeFile(certificate, receiver.certificate);
  const settings: ProcessSettings = {
    storage: storage.settings,
    carrier: url,
    receiver: receiver.url,
    epoch: time,
    port: 0,
    setup: false,
  };
  const environment = { NODE_COMPILE_CACHE: cache, NODE_EXTRA_CA_CERTS: certificate };
  const disturbances: Disturbance[] = [];
  const { now } = fastClock(time);
  const acknowledgements = new Acknowledgements();
  const damage: string[] = [];
  let stopped = false;
  try {
    const apiKey = await new EngineProcess({ ...settings, setup: true }, environment).line();
    for (let i = 0; i < storage.processes; i++) {
      engines.push(new EngineProcess(settings, environment));
    }
    await Promise.all(engines.map((each) => each.ready()));
    view = storage.view();
    const sending = Array.from({ length: clients }, (_, i) =>
      runClient({
        name: `client${i}`,
        dice: new Dice(seed + 2 + i),
        apiKey,
        engine: anyEngine,
        acknowledgements,
        stopped: () => stopped,
      }),
    );

    const cutting = cut
      ? disturb(storage, new Dice(seed + 1_000), { now, disturbances, stopped: () => stopped })
      : undefined;
    for (let kill = 1; kill <= kills; kill++) {
      const engine = engines[dice.whole(0, engines.length)];
      if (engine === undefined) throw new Error("no engine runs");
      await sleep(
        engine.isReady ? dice.between(0, longestLifeMs) : dice.between(0, longestStartMs),
      );
      await engine.kill();
      disturbances.push({ from: now(), to: now() });
      if (engines.length === 1) {
        // Nobody has the storage open when the next process starts, so that it recovers what it finds.
        await view[Symbol.asyncDispose]();
        view = undefined;
      }
      const found = await inspect(storage, acknowledgements);
      damage.push(...found.map((what) => `after kill ${kill}: ${what}`));
      log(
        `kill ${kill}: ${acknowledgements.messages.size} acknowledged, ${carrier.ledger.calls.length} calls`,
      );
      const next = engine.again();
      engines[engines.indexOf(engine)] = next;
      if (kill === kills || dice.percent(85)) await next.ready();
      view ??= storage.view();
    }

    stopped = true;
    await Promise.all([...sending, cutting]);
    await converged(view, carrier);
    await Promise.all(engines.map((each) => each.stop()));
    const verdict = judge({
      acknowledged: acknowledgements.messages,
      keys: acknowledgements.keys,
      ledger: carrier.ledger,
      messages: await view.messages(),
      attempts: await view.attempts(),
      posts: receiver.posts,
      events: await view.events(),
      deliveries: await view.deliveries(),
      deliveryAttempts: await view.deliveryAttempts(),
      disturbances,
    });
    const broken = [...damage, ...acknowledgements.oddities, ...verdict.broken];
    const acknowledged = acknowledgements.messages.size;
    return {
      ...verdict,
      broken,
      kills,
      acknowledged,
      ledger: carrier.ledger,
      posts: receiver.posts,
    };
  } finally {
    stopped = true;
    carrier.close();
    await Promise.all(engines.map((each) => each.kill()));
    server.close();
    server.closeAllConnections();
    receiver.close();
    await view?.[Symbol.asyncDispose]();
    await rm(cache, { recursive: true, force: true });
  }
}

/** What is wrong with what a kill left, and which acknowledged messages are not in it. */
async function inspect(storage: CrashedStorage, { messages }: Acknowledgements): Promise<string[]> {
  const known = [...messages.values()];
  const { view, damage } = await storage.wreck();
  await using _ = view;
  const there = new Set((await view.messages()).map(({ id }) => id));
  return [
    ...damage,
    ...known.filter((id) => !there.has(id)).map((id) => `${id} was acknowledged and is gone`),
  ];
}

interface Disturbing {
  readonly now: () => number;
  readonly disturbances: Disturbance[];
  readonly stopped: () => boolean;
}

async function disturb(
  { disturb }: CrashedStorage,
  dice: Dice,
  { now, disturbances, stopped }: Disturbing,
): Promise<void> {
  while (!stopped()) {
    await sleep(dice.between(0, 500));
    const from = now();
    await disturb?.(dice);
    disturbances.push({ from, to: now() + outOfReachMs });
  }
}

/** Waits until every message and delivery has come to its end and every receipt is taken; what has not by then is found by the judge. */
async function converged(view: View, carrier: Carrier): Promise<void> {
  const deadline = Date.now() + convergesWithinMs;
  while (Date.now() < deadline && ((await view.unsettled()) > 0 || carrier.untaken > 0)) {
    await sleep(100);
  }
}

class EngineProcess {
  readonly #settings: ProcessSettings;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  #port: number;
  #ready = false;

  constructor(settings: ProcessSettings, environment: NodeJS.ProcessEnv) {
    this.#settings = settings;
    this.#environment = environment;
    this.#port = settings.port;
    const script = new URL("./engine-process.ts", import.meta.url).pathname;
    this.#process = spawn(process.execPath, [script, JSON.stringify(settings)], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, ...environment },
    });
    if (this.#process.stdout === null) throw new Error("no output");
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get isReady(): boolean {
    return this.#ready;
  }

  async line(): Promise<string> {
    const { value } = (await this.#lines.next()) as { value?: string };
    if (value === undefined) throw new Error("an engine's process ended without a word");
    return value;
  }

  async ready(): Promise<void> {
    const [, port] = (await this.line()).split(" ");
    this.#port = Number(port);
    this.#ready = true;
  }

  /** The next process of this place, at the same port. */
  again(): EngineProcess {
    return new EngineProcess({ ...this.#settings, port: this.#port }, this.#environment);
  }

  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  async stop(): Promise<void> {
    const code = await this.#end("SIGTERM");
    if (code !== 0) throw new Error(`an engine did not stop cleanly: ${String(code)}`);
  }

  async #end(signal: NodeJS.Signals): Promise<unknown> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      const ended = once(this.#process, "exit");
      this.#process.kill(signal);
      await ended;
    }
    return this.#process.exitCode;
  }
}
