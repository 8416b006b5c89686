import {
  mail,
  mailboxByAddress,
  mailboxes,
  mailByNumber,
  webchatSessions,
  webchatSessionsOfAddress,
} from "./rows.ts";
import type { Tx } from "../store/index.ts";

/**
 * Removes what a webchat address has beside its identity: its sessions, whose tokens are worth nothing from then on, and its mailbox. Up
 * to `limit` rows of each; answers whether nothing is left, else it is to be called again.
 */
export async function forgetVisitor(tx: Tx, address: string, limit: number): Promise<boolean> {
  const key = [address] as const;
  const sessions = await tx.list(webchatSessionsOfAddress, key, limit);
  for (const session of sessions) tx.remove(webchatSessions, session);
  const entries = await tx.list(mailByNumber, key, limit);
  for (const entry of entries) tx.remove(mail, entry);
  const isLast = sessions.length < limit && entries.length < limit;
  const mailbox = isLast ? await tx.get(mailboxByAddress, key) : undefined;
  if (mailbox !== undefined) tx.remove(mailboxes, mailbox);
  return isLast;
}
