import { receiveMessage } from "./receive-from-carrier.ts";
import { recordReceipt } from "./record-receipt.ts";
import type { TransportSink } from "../ports/index.ts";
import type { Runtime } from "../operations/index.ts";

/** Records the receipts and inbound messages that a transport brings. */
export function transportSink(
  transport: string,
  { store, services, logger }: Pick<Runtime, "store" | "services" | "logger">,
): TransportSink {
  return {
    async receipt(subject, receipt) {
      const outcome = await store.commitUnscoped(
        (tx) => recordReceipt(tx, transport, subject, receipt, services),
        {
          own: true,
        },
      );
      if (outcome === "unknown") {
        logger.warn({ transport }, "a receipt of an unknown attempt was dropped");
      }
    },
    async inbound(message, account_id) {
      const outcome = await store.commitUnscoped(
        (tx) => receiveMessage(tx, transport, message, account_id, services),
        {
          own: true,
        },
      );
      if (outcome === "unknown") {
        logger.warn({ transport }, "a message to an unknown address was dropped");
      }
    },
  };
}
