import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../src/ports/clock.ts";
import type { Dice } from "./dice.ts";
import type { Disturbance } from "./judge/judge-deliveries.ts";
import { maxReconnectMs } from "./killer.ts";
import type { Clients } from "./outside/client.ts";
import type { CrashedStorage } from "./storages/storages.ts";

/** The most messages that have to be acknowledged between two cuts. */
const maxAcknowledgedUncut = 6;

interface CutOptions {
  readonly storage: CrashedStorage;
  readonly clients: Clients;
  readonly disturbances: Disturbance[];
  readonly dice: Dice;
  /** The engines' clock. */
  readonly clock: Clock;
}

/** Cuts connections to the storage at random times, until the clients stop. */
export async function cutConnections({
  storage,
  clients,
  disturbances,
  dice,
  clock,
}: CutOptions): Promise<void> {
  const { messages } = clients.acknowledgements;
  while (!clients.isStopped) {
    // On a slow machine, engines would do nothing but reconnect if they were cut by time alone.
    const least = messages.size + dice.whole(0, maxAcknowledgedUncut);
    await sleep(dice.between(0, 500));
    while (messages.size < least && !clients.isStopped) await sleep(20);
    const from = clock.now();
    await storage.breakConnections?.(dice);
    disturbances.push({ from, to: clock.now() + maxReconnectMs });
  }
}
