import { createHmac, type KeyObject } from "node:crypto";
import type { Scope } from "../kernel/index.ts";

/**
 * Stands for a provider's id of an inbound message, which may be made of anything, the number that it came from too: so it can outlive
 * the message, and even its contact.
 */
export function inboundHash(
  secret: KeyObject,
  { account_id, mode }: Scope,
  transport: string,
  provider_message_id: string,
): string {
  const subject = JSON.stringify(["inbound", account_id, mode, transport, provider_message_id]);
  return createHmac("sha256", secret).update(subject).digest("base64url");
}
