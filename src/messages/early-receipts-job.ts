import { unparkReceipts } from "./apply-early-receipts.ts";
import type { JobHandler } from "../queue/dispatcher.ts";
import type { CarrierWork } from "./send-job.ts";

/** Looks again for what a parked receipt belongs to. */
export function unparkHandler({
  store,
  services,
}: Pick<CarrierWork, "store" | "services">): JobHandler {
  return {
    kind: "unpark",
    run: (claim) =>
      store.commitUnscoped((tx) => unparkReceipts(tx, claim, services), { own: true }),
  };
}
