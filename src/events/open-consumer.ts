import { consumerByName, consumers } from "./consumer-rows.ts";
import type { UnscopedTx } from "../store/index.ts";

/** Makes sure that the consumer has a place in the log: the one that it left off at, else `position`. */
export async function openConsumer(tx: UnscopedTx, name: string, position: number): Promise<void> {
  const known = await tx.get(consumerByName, [name]);
  if (known === undefined) tx.insert(consumers, { name, position, moved_at: tx.now });
}
