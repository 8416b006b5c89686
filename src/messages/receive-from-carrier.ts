import { liveSenderByAddress, senderByAddress } from "../senders/index.ts";
import { TidingsError } from "../kernel/index.ts";
import type { Services } from "../operations/index.ts";
import type { InboundMessage } from "../ports/index.ts";
import type { UnscopedTx } from "../store/index.ts";
import { takeInMessage } from "./receive.ts";

/**
 * Takes in a message that a carrier brought. Whose it is, the address that it came to says; in the sandbox, where all accounts have the
 * same one, `account_id`.
 */
export async function receiveMessage(
  tx: UnscopedTx,
  transport: string,
  message: InboundMessage,
  account_id: string | undefined,
  services: Services,
): Promise<"received" | "unknown"> {
  const sender =
    account_id === undefined
      ? await tx.get(liveSenderByAddress, [transport, message.to])
      : await tx.get(senderByAddress, [account_id, "sandbox", message.to]);
  if (sender === undefined || sender.transport !== transport) return "unknown";
  try {
    await takeInMessage(tx.in(sender), services, sender, message);
  } catch (error) {
    // Its carrier need not bring it a third time.
    if (!(error instanceof TidingsError) || error.code !== "erased") throw error;
  }
  return "received";
}
