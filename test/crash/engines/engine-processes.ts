import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Dice } from "../dice.ts";
import type { ProcessSettings } from "./engine-main.ts";
import { EngineProcess } from "./engine-process.ts";

/** How often a process that ends by itself is started again. */
const maxStarts = 20;

interface StartOptions {
  readonly count: number;
  readonly settings: Omit<ProcessSettings, "setup">;
  /** The certificate of an authority that the engines trust. */
  readonly certificate: string;
}

/** The processes of the engines. A new process takes the place of one that was killed. */
export class EngineProcesses implements AsyncDisposable {
  readonly #dice: Dice;
  readonly #processes: EngineProcess[] = [];
  #directory: string | undefined;

  constructor(dice: Dice) {
    this.#dice = dice;
  }

  get count(): number {
    return this.#processes.length;
  }

  /** The address of any of them, of another one each time. Empty before the start. */
  readonly anyUrl = (): string => this.#any()?.url ?? "";

  /** Any of the processes. */
  any(): EngineProcess {
    const engine = this.#any();
    if (engine === undefined) throw new Error("no engine runs");
    return engine;
  }

  #any(): EngineProcess | undefined {
    return this.#processes[this.#dice.whole(0, this.#processes.length)];
  }

  /** Creates an account and starts the engines. Returns the API key when all accept requests. */
  async start({ count, settings, certificate }: StartOptions): Promise<string> {
    this.#directory = await mkdtemp(join(tmpdir(), "tidings-compiled-"));
    const certificateFile = join(this.#directory, "authority.pem");
    await writeFile(certificateFile, certificate);
    const environment = {
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? this.#directory,
      NODE_EXTRA_CA_CERTS: certificateFile,
    };
    const apiKey = await new EngineProcess({ ...settings, setup: true }, environment).line();
    for (let i = 0; i < count; i++) {
      this.#processes.push(new EngineProcess({ ...settings, setup: false }, environment));
    }
    await Promise.all(this.#processes.map((each) => each.ready()));
    return apiKey;
  }

  /** Starts a process in place of one that has ended. */
  restart(ended: EngineProcess): EngineProcess {
    const next = ended.restart();
    this.#processes[this.#processes.indexOf(ended)] = next;
    return next;
  }

  /**
   * Resolves when an engine accepts requests. A process that could not start because of a mishap
   * has ended, and is started again, as a supervisor would.
   */
  async becomesReady(engine: EngineProcess): Promise<void> {
    let current = engine;
    for (let left = maxStarts; !(await current.becomesReady()); left--) {
      if (left === 0) throw new Error("an engine's process cannot start");
      current = this.restart(current);
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#processes.map((each) => each.stop()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#processes.map((each) => each.kill()));
    if (this.#directory !== undefined) await rm(this.#directory, { recursive: true, force: true });
  }
}
