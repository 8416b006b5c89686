import { httpClient } from "../adapters/http-client/index.ts";
import type { CreateWebhook } from "../src/webhooks/types.ts";
import type { AccountHandle } from "../src/handles.ts";
import type { Extras } from "./engines.ts";
import { concurrently } from "./measure.ts";

/** What lets an engine send to receivers on this machine. */
export function toThisMachine(): Extras {
  return { http: { client: httpClient(), allow: ["127.0.0.1"] } };
}

/** So many webhooks of an account. */
export async function subscribe(
  { webhooks }: Pick<AccountHandle, "webhooks">,
  times: number,
  webhook: CreateWebhook,
): Promise<void> {
  await concurrently(times, 16, () => webhooks.create(webhook));
}

/** Makes an event that a webhook can be told of. */
export async function happen(
  { sandbox }: Pick<AccountHandle, "sandbox">,
  i: number,
): Promise<void> {
  await sandbox.inbound({
    from: `+1312555${String(i % 100).padStart(4, "0")}`,
    body: "Is my table ready?",
  });
}
