import { fanOut } from "./webhook-fan-out.ts";
import { isolation } from "./webhook-isolation.ts";
import { throughput } from "./webhook-throughput.ts";

/** What webhooks get done, who is held up by those that hang, and what they cost who sends. */
export async function webhooks(): Promise<string> {
  const told: string[] = [];
  for (const each of [throughput, isolation, fanOut]) told.push(await each());
  return told.join("; ");
}
