import { setTimeout as sleep } from "node:timers/promises";
import type { Dice } from "./dice.ts";
import { post, type Reply } from "./http.ts";

/** What clients were answered: 201 is a promise. */
export class Acknowledgements {
  /** Of each idempotency key, the message that was acknowledged. */
  readonly messages = new Map<string, string>();
  /** What no client should ever see. */
  readonly oddities: string[] = [];
  /** Keys that were ever sent. */
  readonly keys = new Set<string>();

  take(key: string, { status, body }: Reply): boolean {
    if (status !== 201) {
      if (status !== 429 && status !== 409 && status !== 503) {
        this.oddities.push(`${key} was answered ${status}: ${body}`);
      }
      return false;
    }
    const { id } = JSON.parse(body) as { id: string };
    const before = this.messages.get(key) ?? id;
    if (before !== id) this.oddities.push(`${key} was acknowledged as ${before} and as ${id}`);
    this.messages.set(key, id);
    return true;
  }
}

export interface ClientOptions {
  readonly name: string;
  readonly dice: Dice;
  readonly apiKey: string;
  readonly engine: () => string;
  readonly acknowledgements: Acknowledgements;
  readonly stopped: () => boolean;
}

/** Numbers that get several messages each, so that conversations are worked off in order. */
const regulars = 40;

/** Sends messages one after the other; each under a key of its own, and again under it until it is acknowledged. */
export async function runClient({
  name,
  dice,
  apiKey,
  engine,
  acknowledgements,
  stopped,
}: ClientOptions): Promise<void> {
  for (let i = 0; !stopped(); i++) {
    const key = `${name}-${i}`;
    acknowledgements.keys.add(key);
    const recipient = dice.percent(50) ? dice.whole(0, regulars) : dice.whole(1_000, 9_999_999);
    const message = JSON.stringify({
      to: `+1212${String(recipient).padStart(7, "0")}`,
      body: `message ${key}`,
    });
    const headers = { authorization: `Bearer ${apiKey}`, "idempotency-key": key };
    const attempt = async (signal?: AbortSignal): Promise<boolean> => {
      const options = signal === undefined ? { headers } : { headers, signal };
      return post(`${engine()}/v1/messages`, message, options).then(
        (reply) => acknowledgements.take(key, reply),
        () => false,
      );
    };
    // Some leave before they are answered, and some send twice in one breath: what counts is the key.
    if (dice.percent(5)) await attempt(AbortSignal.timeout(dice.whole(1, 20)));
    if (dice.percent(5)) void attempt();
    while (!(await attempt())) await sleep(dice.between(5, 40));
    if (dice.percent(10)) await attempt();
    await sleep(dice.between(0, 25));
  }
}
