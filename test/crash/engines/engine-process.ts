import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { withDeadline } from "../with-deadline.ts";
import type { ProcessSettings } from "./engine-main.ts";

/** Nothing listens on this port (tcpmux). */
const noPort = 1;

/** A child process that runs `engine-main.ts`. */
export class EngineProcess {
  readonly #settings: ProcessSettings;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  #port = noPort;
  #isReady = false;

  constructor(settings: ProcessSettings, environment: NodeJS.ProcessEnv) {
    this.#settings = settings;
    this.#environment = environment;
    if (!existsSync("dist/index.js")) {
      throw new Error("The package is not built. Run `npm run build` first.");
    }
    const script = new URL("./engine-main.ts", import.meta.url).pathname;
    this.#process = spawn(process.execPath, [script, JSON.stringify(settings)], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, ...environment },
    });
    if (this.#process.stdout === null) throw new Error("the child process has no stdout");
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
  }

  /**
   * Its address. Each process has a new port, since another program may get the port of one that
   * has ended.
   */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** The id of the process, or undefined if it could not be started. */
  get pid(): number | undefined {
    return this.#process.pid;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** The next line that the process prints. */
  async line(): Promise<string> {
    const next = withDeadline("the start of an engine", this.#lines.next());
    const { value } = (await next) as { value?: string };
    if (value === undefined) throw new Error("an engine's process ended without printing a line");
    return value;
  }

  /** Resolves when the engine accepts requests. */
  async ready(): Promise<void> {
    const [, port] = (await this.line()).split(" ");
    this.#port = Number(port);
    this.#isReady = true;
  }

  /** Resolves when the engine accepts requests, or with false when its process has ended. */
  async becomesReady(): Promise<boolean> {
    try {
      await this.ready();
      return true;
    } catch {
      // Its output has ended, so the process ends.
      await this.#exited();
      return false;
    }
  }

  /** Starts a new process. */
  restart(): EngineProcess {
    return new EngineProcess(this.#settings, this.#environment);
  }

  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  async stop(): Promise<void> {
    const code = await this.#end("SIGTERM");
    if (code !== 0) throw new Error(`an engine did not stop cleanly: exit code ${String(code)}`);
  }

  async #end(signal: NodeJS.Signals): Promise<unknown> {
    const exited = this.#exited();
    this.#process.kill(signal);
    await exited;
    this.#port = noPort;
    return this.#process.exitCode;
  }

  async #exited(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    await withDeadline("the end of an engine", once(this.#process, "exit"));
  }
}
