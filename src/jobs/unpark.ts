import { unparkReceipts } from "../commands/unpark-receipts.ts";
import type { JobHandler } from "../dispatch/dispatcher.ts";
import type { CarrierWork } from "./send.ts";

/** Looks again for what a parked receipt belongs to. */
export function unparkHandler({
  store,
  services,
}: Pick<CarrierWork, "store" | "services">): JobHandler {
  return {
    kind: "unpark",
    run: (claim) => store.commit((tx) => unparkReceipts(tx, claim, services), { own: true }),
  };
}
