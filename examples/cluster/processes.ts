/** Three processes on one port. Whichever is killed is started again at once. */
import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import type { Settings } from "./engine.ts";

const count = 3;
/** A process that is told to stop has this long, in milliseconds. */
const patienceMs = 15_000;

export interface State {
  readonly pid: number | undefined;
  readonly isServing: boolean;
  /** How often the process of this place was killed. */
  readonly kills: number;
}

interface Place {
  worker: Worker;
  isServing: boolean;
  kills: number;
}

export class Processes {
  readonly #env: Readonly<Record<string, string>>;
  readonly #failed: (error: Error) => void;
  readonly #places: Place[] = [];
  #port = 0;
  #isStopping = false;

  /** `failed` is told of a process that ended and was not killed. */
  constructor(settings: Settings, failed: (error: Error) => void) {
    this.#env = { CLUSTER: JSON.stringify(settings) };
    this.#failed = failed;
    cluster.setupPrimary({ exec: fileURLToPath(new URL("worker.ts", import.meta.url)), args: [] });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get states(): State[] {
    return this.#places.map(({ worker, isServing, kills }) => ({
      pid: worker.process.pid,
      isServing,
      kills,
    }));
  }

  get kills(): number {
    return this.#places.reduce((sum, { kills }) => sum + kills, 0);
  }

  /** Resolves when all serve. 0 stands for any port. */
  async start(port: number): Promise<void> {
    this.#port = port === 0 ? await freePort() : port;
    while (this.#places.length < count) {
      const place: Place = { worker: this.#fork(), isServing: false, kills: 0 };
      this.#places.push(place);
      this.#watch(place);
    }
    await Promise.all(
      this.#places.map(async ({ worker }) => {
        const event = await Promise.race([
          once(worker, "listening"),
          once(worker, "exit").then(() => "exit"),
        ]);
        if (event === "exit") throw new Error("a process could not start");
      }),
    );
  }

  /** Kills one of them, in whatever it does. */
  kill(): void {
    const place = this.#places[Math.floor(Math.random() * this.#places.length)];
    if (place?.worker.process.kill("SIGKILL") === true) place.kills++;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(
      this.#places.map(async ({ worker }) => {
        if (worker.isDead()) return;
        const ended = once(worker, "exit");
        worker.process.kill("SIGTERM");
        const timer = setTimeout(() => worker.process.kill("SIGKILL"), patienceMs);
        await ended;
        clearTimeout(timer);
      }),
    );
  }

  #fork(): Worker {
    return cluster.fork({ ...this.#env, PORT: String(this.#port) });
  }

  #watch(place: Place): void {
    place.worker.once("listening", () => (place.isServing = true));
    place.worker.once("exit", (status: number, signal: string | null) => {
      place.isServing = false;
      if (this.#isStopping) return;
      if (signal !== "SIGKILL") {
        return this.#failed(new Error(`a process ended by itself with ${signal ?? status}`));
      }
      place.worker = this.#fork();
      this.#watch(place);
    });
  }
}

/** Where all three are dead at once the port is closed, and opened anew by the next: so it has a number from the beginning. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
