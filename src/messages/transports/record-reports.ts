/** Records what carriers report: receipts and inbound messages. */
import { isAddress } from "../../kernel/index.ts";
import type { Runtime } from "../../operations/index.ts";
import type {
  CallbackResult,
  InboundMessage,
  Receipt,
  ReceiptSubject,
  TransportSink,
} from "../../ports/index.ts";
import { background } from "../../store/index.ts";
import { receiveFromCarrier } from "../inbound/receive.ts";
import { recordReceipt } from "../receipts/record-receipt.ts";
import { checkCallbackResult, checkInbound, checkReceipt } from "../transport-results.ts";

type Recording = Pick<Runtime, "store" | "services" | "logger">;

/** Returns the sink that checks and records a transport's receipts and inbound messages. */
export function transportSink(transport: string, runtime: Recording): TransportSink {
  return {
    async receipt(subject, receipt) {
      checkReceipt(transport, subject, receipt);
      await storeReceipt(transport, subject, receipt, runtime);
    },
    async inbound(message, account_id) {
      checkInbound(transport, message);
      await storeInbound(transport, message, account_id, runtime);
    },
  };
}

/**
 * Records the receipts and messages that `parseCallback` returned. Returns the response to the
 * carrier.
 * @throws TypeError before anything is recorded if a part of the result has a wrong form
 */
export async function recordCallback(
  transport: string,
  result: unknown,
  runtime: Recording,
): Promise<CallbackResult["response"]> {
  checkCallbackResult(transport, result);
  await Promise.all([
    ...result.receipts.map(({ subject, receipt }) =>
      storeReceipt(transport, subject, receipt, runtime),
    ),
    ...result.inbound.map((message) => storeInbound(transport, message, undefined, runtime)),
  ]);
  return result.response;
}

async function storeReceipt(
  transport: string,
  subject: ReceiptSubject,
  receipt: Receipt,
  { store, services, logger }: Recording,
): Promise<void> {
  const outcome = await store.commitUnscoped(
    (tx) => recordReceipt(tx, services, transport, subject, receipt),
    background,
  );
  if (outcome === "unknown") {
    logger.warn({ transport }, "a receipt of an unknown attempt was dropped");
  }
}

async function storeInbound(
  transport: string,
  message: InboundMessage,
  account_id: string | undefined,
  { store, services, logger }: Recording,
): Promise<void> {
  // No message could be sent back, and databases limit what an index can hold.
  if (!isAddress(message.from)) {
    logger.warn({ transport }, "a message from something that is no address was dropped");
    return;
  }
  const outcome = await store.commitUnscoped(
    (tx) => receiveFromCarrier(tx, services, transport, message, account_id),
    background,
  );
  if (outcome === "unknown") {
    const isLive = services.factsByTransport.get(transport)?.modes.includes("live") === true;
    const why = isLive
      ? "no live sender has its address"
      : "no sandbox has its address, or several do";
    logger.warn({ transport }, `a message was dropped: ${why}`);
  }
}
