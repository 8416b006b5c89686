import { randomFillSync } from "node:crypto";
import type { Random } from "../../src/ports/random.ts";

const poolBytes = 4_096;

/** What is drawn for a secret, or more, comes straight from the system. */
const smallDrawBytes = 16;

/**
 * Bytes of the system's cryptographic generator. An id takes sixteen draws of two bytes and each call of the generator costs
 * about a microsecond, so small draws are served from a pool. They are copied out and wiped there: no two draws share memory.
 */
export function systemRandom(): Random {
  const pool = new Uint8Array(poolBytes);
  let used = poolBytes;
  return {
    bytes(count) {
      if (count > smallDrawBytes) return randomFillSync(new Uint8Array(count));
      if (used + count > poolBytes) {
        randomFillSync(pool);
        used = 0;
      }
      const drawn = pool.slice(used, used + count);
      pool.fill(0, used, used + count);
      used += count;
      return drawn;
    },
  };
}
