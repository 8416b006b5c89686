import type { EngineLock } from "../../src/ports/engine-locks.ts";
import type { Lifetime } from "./lifetime.ts";
import type { World } from "./world.ts";

/** How long an engine may take to get its lock again after its connection is back. */
const maxDelayMs = 2_000;

/**
 * The lock of one engine, which ends with its process and is lost with its connection. Unlike a real
 * storage, this one gives a living engine no time to take its lock again: others find it free at
 * once.
 */
export class SimulatedLocks {
  readonly #world: World;
  readonly #lifetime: Lifetime;
  #id: string | undefined;
  /** Whether the engine believes that it holds the lock. It may not notice a loss. */
  #isBelieved = false;

  constructor(world: World, lifetime: Lifetime) {
    this.#world = world;
    this.#lifetime = lifetime;
  }

  take(): EngineLock {
    const id = `${this.#lifetime.name}, ${this.#world.clock.now()}`;
    this.#id = id;
    this.#hold();
    return {
      id,
      isHeld: () => this.#isBelieved,
      release: async () => {
        this.lose();
        this.#id = undefined;
      },
    };
  }

  findFree(ids: readonly string[]): readonly string[] {
    return ids.filter((id) => !this.#world.heldLocks.has(id));
  }

  /** Loses the lock without the engine's knowledge. */
  lose(): void {
    if (this.#id !== undefined) this.#world.heldLocks.delete(this.#id);
  }

  /** Loses the lock. The engine takes it again some time after `time`. */
  loseUntil(time: number): void {
    const { clock, dice } = this.#world;
    this.lose();
    if (dice.chance(0.5)) this.#isBelieved = false;
    const delay = time - clock.now() + dice.between(0, maxDelayMs);
    void clock.sleep(delay).then(() => this.#hold());
  }

  #hold(): void {
    if (this.#id === undefined || !this.#lifetime.isAlive) return;
    this.#world.heldLocks.add(this.#id);
    this.#isBelieved = true;
  }
}
