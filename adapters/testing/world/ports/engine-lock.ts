import type { EngineLock } from "../../../../src/ports/index.ts";
import type { RunContext } from "../run-context.ts";

/** How long an engine may take to get its lock again after its connection is back. */
const maxDelayMs = 2_000;

/**
 * The lock that shows that one engine is alive. It ends with the engine's process and is lost with
 * its connection. Unlike a real storage, this one gives a living engine no time to take its lock
 * again. Other engines find the lock free at once.
 */
export class SimulatedEngineLock {
  readonly #context: RunContext;
  /** The number of locks that the run of the engine has taken. */
  #taken = 0;
  #id: string | undefined;
  /** What the engine is told. It may not notice at once that it has lost the lock. */
  #seemsHeld = false;

  constructor(context: RunContext) {
    this.#context = context;
  }

  take(): EngineLock {
    const { run } = this.#context;
    const id = `${run.name}, run ${run.number}, lock ${++this.#taken}`;
    this.#id = id;
    this.#hold();
    return {
      id,
      isHeld: () => this.#seemsHeld,
      release: async () => {
        this.lose();
        this.#id = undefined;
      },
    };
  }

  findFree(ids: readonly string[]): readonly string[] {
    return ids.filter((id) => !this.#context.world.heldLocks.has(id));
  }

  /** Loses the lock without the engine's knowledge. */
  lose(): void {
    if (this.#id !== undefined) this.#context.world.heldLocks.delete(this.#id);
  }

  /**
   * Loses the lock. The engine takes the lock again some time after `time`. If `time` is
   * `Infinity`, the engine takes it again once it reaches the storage.
   */
  loseUntil(time: number): void {
    const { clock, dice } = this.#context.world;
    this.lose();
    if (dice.chance(0.5)) this.#seemsHeld = false;
    const delay = dice.between(0, maxDelayMs);
    void this.#reachable(time)
      .then(() => clock.sleep(delay))
      .then(() => this.#hold());
  }

  async #reachable(time: number): Promise<void> {
    const { world, run, isCutOff } = this.#context;
    if (time !== Infinity) return world.clock.sleep(time - world.clock.monotonic());
    while (run.isAlive && isCutOff("storage")) await world.healed();
  }

  #hold(): void {
    const { run, world } = this.#context;
    if (this.#id === undefined || !run.isAlive) return;
    world.heldLocks.add(this.#id);
    this.#seemsHeld = true;
  }
}
