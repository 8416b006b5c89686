import { receiveMessage } from "./receive-from-carrier.ts";
import { recordReceipt } from "./record-receipt.ts";
import type { Services } from "../operations/operation.ts";
import type { Logger } from "../ports/logger.ts";
import type { TransportSink } from "../ports/transport.ts";
import type { Store } from "../store/store.ts";

export interface SinkOptions {
  readonly store: Store;
  readonly services: Services;
  readonly logger: Logger;
}

/** Where a transport brings what its carrier says. */
export function transportSink(
  transport: string,
  { store, services, logger }: SinkOptions,
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
        logger.warn({ transport }, "a receipt for an attempt that is not known was dropped");
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
        logger.warn({ transport }, "a message to an address that is nobody's was dropped");
      }
    },
  };
}
