/** Runs three worker processes on one port, and replaces a killed one at once. */
import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import type { Settings } from "./engine.ts";

const processCount = 3;
/** A process that does not stop within this time is killed. */
const stopTimeoutMs = 15_000;
/**
 * A process that one of these ends is replaced: the kills, and what a terminal sends to all
 * processes at Ctrl+C or when it closes. A process ignores the latter once it has loaded its
 * program, but not before.
 */
const expectedSignals: ReadonlySet<string> = new Set(["SIGKILL", "SIGINT", "SIGHUP"]);

export interface ProcessState {
  readonly pid: number | undefined;
  readonly isServing: boolean;
  /** How many times this slot's process has been killed. */
  readonly kills: number;
}

interface Slot {
  worker: Worker;
  isServing: boolean;
  kills: number;
}

export class Processes {
  readonly #env: Readonly<Record<string, string>>;
  readonly #onCrash: (error: Error) => void;
  readonly #slots: Slot[] = [];
  #port = 0;
  #isStopping = false;

  /** `onCrash` is called if a process ends that no expected signal has ended. */
  constructor(settings: Settings, onCrash: (error: Error) => void) {
    this.#env = { CLUSTER: JSON.stringify(settings) };
    this.#onCrash = onCrash;
    cluster.setupPrimary({ exec: fileURLToPath(new URL("worker.ts", import.meta.url)), args: [] });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get states(): ProcessState[] {
    return this.#slots.map(({ worker, isServing, kills }) => ({
      pid: worker.process.pid,
      isServing,
      kills,
    }));
  }

  get kills(): number {
    return this.#slots.reduce((sum, { kills }) => sum + kills, 0);
  }

  /** Resolves when all processes serve. Port 0 means any free port. */
  async start(port: number): Promise<void> {
    this.#port = port === 0 ? await freePort() : port;
    while (this.#slots.length < processCount) {
      const slot: Slot = { worker: this.#fork(), isServing: false, kills: 0 };
      this.#slots.push(slot);
      this.#watch(slot);
    }
    await Promise.all(
      this.#slots.map(async ({ worker }) => {
        const event = await Promise.race([
          once(worker, "listening"),
          once(worker, "exit").then(() => "exit"),
        ]);
        if (event === "exit") throw new Error("a process could not start");
      }),
    );
  }

  /** Kills a random process. */
  kill(): void {
    const slot = this.#slots[Math.floor(Math.random() * this.#slots.length)];
    if (slot?.worker.process.kill("SIGKILL") === true) slot.kills++;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(
      this.#slots.map(async ({ worker }) => {
        if (worker.isDead()) return;
        const ended = once(worker, "exit");
        worker.process.kill("SIGTERM");
        const timer = setTimeout(() => worker.process.kill("SIGKILL"), stopTimeoutMs);
        await ended;
        clearTimeout(timer);
      }),
    );
  }

  #fork(): Worker {
    return cluster.fork({ ...this.#env, PORT: String(this.#port) });
  }

  #watch(slot: Slot): void {
    slot.worker.once("listening", () => (slot.isServing = true));
    slot.worker.once("exit", (status: number, signal: string | null) => {
      slot.isServing = false;
      if (this.#isStopping) return;
      if (signal === null || !expectedSignals.has(signal)) {
        return this.#onCrash(new Error(`a process ended unexpectedly with ${signal ?? status}`));
      }
      slot.worker = this.#fork();
      this.#watch(slot);
    });
  }
}

/**
 * Chooses a fixed port. With port 0, the cluster would choose a new one whenever all three
 * processes are dead at the same time.
 */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
