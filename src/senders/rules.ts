import { createHash } from "node:crypto";
import type { SenderId } from "../kernel/index.ts";

/**
 * A pool's senders in the order in which an address is to have them. The same address gets the same one for as long as the pool has it,
 * and each gets its share of the addresses: a sender that joins takes an even part of everybody's, one that leaves gives its own to all
 * (rendezvous hashing, Thaler and Ravishankar 1998).
 */
export function orderFor(address: string, pool: readonly SenderId[]): SenderId[] {
  const weighed = pool.map((id) => ({ id, weight: weightOf(`${id} ${address}`) }));
  return weighed
    .toSorted((a, b) => b.weight - a.weight || (a.id < b.id ? -1 : 1))
    .map(({ id }) => id);
}

function weightOf(text: string): number {
  return createHash("sha256").update(text).digest().readUIntBE(0, 6);
}
