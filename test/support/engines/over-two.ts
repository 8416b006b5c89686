/** A message over two scripted carriers, which report on it. */
import { memory } from "../../../adapters/storage/memory/index.ts";
import type { EngineOptions } from "../../../src/host/options/options.ts";
import type { Route } from "../../../src/ports/route.ts";
import type { Receipt } from "../../../src/ports/transport.ts";
import { carrier, type Script } from "./carrier.ts";
import { world } from "./world.ts";

export const hello = { to: "+15005550001", body: "Hello" };
export const unavailable = { code: "carrier_unavailable", message: "" } as const;

/** Starts an engine with a route over two scripted carriers. */
export async function overTwo(
  fallBackAfter: NonNullable<Route["fallBackAfter"]>,
  first: Script,
  second: Script = {},
  options: Partial<EngineOptions<undefined>> = {},
) {
  const { clock, engine } = world();
  const lines = [carrier(first), carrier({ name: "second", ...second })] as const;
  const one = engine(memory(), {
    transports: [...lines],
    routes: [{ transports: ["sandbox", "second"], fallBackAfter }],
    ...options,
  });
  await one.start();
  return {
    clock,
    engine: one,
    lines,
    /** Delivers a receipt for the carrier's first attempt. */
    tell: (line: (typeof lines)[number], status: Receipt["status"], error?: Receipt["error"]) =>
      line.report(status, { by: "both", error }),
  };
}
