import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../src/ports/clock.ts";
import type { Dice } from "./dice.ts";
import type { EngineProcess } from "./engines/engine-process.ts";
import type { EngineProcesses } from "./engines/engine-processes.ts";
import type { Disturbance } from "./judge/judge-deliveries.ts";
import type { JudgeView } from "./judge/judge-view.ts";
import type { Acknowledgements } from "./outside/client.ts";
import type { CrashedStorage, Mishap, MishapName } from "./storages/storages.ts";

/**
 * The longest time from a start to the kill, if the process is ready, or if it is still starting.
 */
const maxLifeMs = 1_400;
const maxStartMs = 400;
/** How long a mishap lasts before the kill, and again after it, at most. */
const maxMishapMs = 600;
/** How long engines may take to reconnect after a mishap, by the engines' clock. */
export const maxReconnectMs = 60_000;
/** How long after a kill a request may arrive that the engine had sent, by the engines' clock. */
const maxArrivalMs = 5_000;

interface KillerOptions {
  readonly storage: CrashedStorage;
  readonly engines: EngineProcesses;
  readonly view: JudgeView;
  readonly acknowledgements: Acknowledgements;
  /** Gets an entry for each kill. */
  readonly disturbances: Disturbance[];
  readonly dice: Dice;
  /** The engines' clock. */
  readonly clock: Clock;
}

/** An engine that was killed, with the mishap that came with it. Times are by the engines' clock. */
interface Killed {
  readonly engine: EngineProcess;
  readonly name: MishapName;
  readonly mishap: Mishap;
  /** When the mishap began. */
  readonly from: number;
  readonly killedAt: number;
}

/** Kills engines at random times, with mishaps, and starts them again. */
export class Killer {
  /** What was damaged or lost after a kill. */
  readonly damage: string[] = [];
  /** How often each mishap came with a kill. */
  readonly mishaps = new Map<MishapName, number>();
  readonly #options: KillerOptions;
  #kills = 0;

  constructor(options: KillerOptions) {
    this.#options = options;
  }

  /** Kills an engine after some time, and inspects what is left of the storage. */
  async kill(): Promise<Killed> {
    const { storage, engines, view, dice, clock } = this.#options;
    const engine = engines.any();
    await sleep(dice.between(0, engine.isReady ? maxLifeMs : maxStartMs));
    const name = drawMishap(storage, dice);
    const mishap: Mishap = storage.mishaps[name] ?? {};
    const from = clock.now();
    if (mishap.before !== undefined && engine.pid !== undefined) {
      await mishap.before(engine.pid, dice);
      await sleep(dice.between(0, maxMishapMs));
    }
    await engine.kill();
    const killedAt = clock.now();
    // Close the only other connection, so that the next process must recover the database.
    if (engines.count === 1) await view.close();
    await mishap.after?.(dice);
    this.#kills++;
    const found = await this.#inspect();
    this.damage.push(...found.map((what) => `after kill ${this.#kills}: ${what}`));
    this.mishaps.set(name, (this.mishaps.get(name) ?? 0) + 1);
    return { engine, name, mishap, from, killedAt };
  }

  /** Describes damage to the storage, and acknowledged messages that are missing from it. */
  async #inspect(): Promise<string[]> {
    const { storage, acknowledgements } = this.#options;
    const known = [...acknowledgements.messages.values()];
    const { view, damage } = await storage.inspectAfterKill();
    await using _ = view;
    const stored = new Set((await view.messages()).map(({ id }) => id));
    return [
      ...damage,
      ...known
        .filter((id) => !stored.has(id))
        .map((id) => `${id} was acknowledged, but is not stored`),
    ];
  }

  /**
   * Starts an engine again and ends its mishap. Mostly waits until it is ready, and always after
   * the last kill.
   */
  async restart(
    { engine, name, mishap, from, killedAt }: Killed,
    { isLast }: { readonly isLast: boolean },
  ): Promise<void> {
    const { engines, view, disturbances, dice, clock } = this.#options;
    const next = engines.restart(engine);
    if (mishap.end !== undefined) {
      await sleep(dice.between(0, maxMishapMs));
      await mishap.end();
    }
    const to = name === "kill" ? killedAt + maxArrivalMs : clock.now() + maxReconnectMs;
    disturbances.push({ from, to });
    if (isLast || name !== "kill" || dice.percent(85)) await engines.becomesReady(next);
    view.open();
  }
}

function drawMishap({ mishaps }: CrashedStorage, dice: Dice): MishapName {
  const names = Object.entries(mishaps).map(([name, { weight }]) => [name, weight]);
  return dice.pick(Object.fromEntries(names) as Record<MishapName, number>);
}
