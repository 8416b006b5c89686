import { fanOut } from "./fan-out.ts";
import { isolation } from "./isolation.ts";
import { throughput } from "./throughput.ts";

/** Throughput of deliveries, isolation from webhooks that hang, and the cost for senders. */
export async function webhooks(): Promise<string> {
  const summaries: string[] = [];
  for (const benchmark of [throughput, isolation, fanOut]) summaries.push(await benchmark());
  return `webhooks: ${summaries.join("; ")}`;
}
