/** An engine on virtual time, so that keys can expire and rate limits stay reached. */
import { memory } from "../../adapters/storage/memory/index.ts";
import { simulated, type VirtualClock } from "../../adapters/testing/index.ts";
import type { EngineOptions } from "../../src/host/options/options.ts";
import type { Limits } from "../../src/kernel/limits.ts";
import type { HttpClient } from "../../src/ports/http-client.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import { world, type World } from "../api/world.ts";
import { stopped } from "../support/engines/world.ts";
import { refund, type Making } from "./owner.ts";

export interface SecurityWorld extends World, Making {
  readonly clock: VirtualClock;
  stop(): Promise<void>;
}

/** Receivers of webhooks that accept everything. */
const receivers: HttpClient = {
  send: () =>
    Promise.resolve({
      outcome: "answered",
      status: 200,
      headers: {},
      body: new Uint8Array(),
      truncated: false,
      address: "192.0.2.1",
    }),
  close() {},
};

interface WorldOptions extends Partial<Omit<EngineOptions, "limits" | "storage">> {
  readonly limits?: Partial<Limits>;
  readonly storage?: StoragePort;
}

/** An engine that is not started. Nothing happens in the background. */
export function idleWorld({
  limits = {},
  storage = memory(),
  ...options
}: WorldOptions = {}): SecurityWorld {
  const { clock, random } = simulated();
  const there = world(limits, storage, {
    clock,
    random,
    http: { client: receivers },
    agents: { model: () => ({}), actions: [refund] },
    ...options,
  });
  return {
    ...there,
    clock,
    settle: () => clock.settle(),
    stop: () => stopped(there.engine, clock),
  };
}

/** An engine that has sent its messages. */
export async function startedWorld(options: WorldOptions = {}): Promise<SecurityWorld> {
  const there = idleWorld(options);
  await there.engine.start();
  return there;
}
