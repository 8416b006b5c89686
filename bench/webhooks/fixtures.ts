import { fork } from "node:child_process";
import { once } from "node:events";
import { httpClient } from "../../adapters/http-client/index.ts";
import type { AccountHandle } from "../../src/host/handles/handles.ts";
import type { CreateWebhook } from "../../src/webhooks/input-types.ts";
import type { ExtraOptions } from "../support/engines.ts";
import { concurrently } from "../support/measure.ts";
import type { Arrival } from "./receiver-process.ts";

/** Lets an engine send to receivers on this machine. */
export function localHttp(): ExtraOptions {
  return { http: { client: httpClient(), allow: ["127.0.0.1"] } };
}

/** Creates the same webhook several times. */
export async function createWebhooks(
  { webhooks }: Pick<AccountHandle, "webhooks">,
  times: number,
  webhook: CreateWebhook,
): Promise<void> {
  await concurrently(times, 16, () => webhooks.create(webhook));
}

/** Causes a `message.received` event. The first hundred also create a contact each. */
export async function createEvent(
  { sandbox }: Pick<AccountHandle, "sandbox">,
  i: number,
): Promise<void> {
  await sandbox.inbound({
    from: `+1312555${String(i % 100).padStart(4, "0")}`,
    body: "Is my table ready?",
  });
}

export interface Receiver extends Disposable {
  readonly url: string;
  /** The next `count` arrivals. */
  arrivals(count: number): Promise<readonly Arrival[]>;
}

/** Starts a webhook receiver in its own process. */
export async function startReceiver(): Promise<Receiver> {
  const child = fork(new URL("./receiver-process.ts", import.meta.url));
  const [port] = (await once(child, "message")) as [number];
  return {
    url: `http://127.0.0.1:${port}`,
    async arrivals(count) {
      const reply = once(child, "message") as Promise<[readonly Arrival[]]>;
      child.send(count);
      const [arrivals] = await reply;
      return arrivals;
    },
    [Symbol.dispose]: () => void child.kill(),
  };
}

/** Milliseconds of the machine's monotonic clock. */
export const monotonic = (): number => Number(process.hrtime.bigint()) / 1e6;
