import { notFound } from "../../kernel/index.ts";
import type { Seen } from "../../ports/index.ts";
import type { ReadOptions, Tx } from "../../store/index.ts";
import {
  mailboxByAddress,
  mailboxes,
  webchatSessionById,
  webchatSessions,
  webchatSessionsOfAddress,
  type WebchatSessionRow,
} from "../rows.ts";

/**
 * Returns a visitor's session that has not expired.
 * @throws TidingsError `not_found`
 */
export async function findSession(
  reads: Pick<Tx, "get">,
  id: string,
  now: number,
  options?: ReadOptions,
): Promise<Seen<WebchatSessionRow>> {
  const session = await reads.get(webchatSessionById, [id], options);
  if (session === undefined || session.expires_at <= now) throw notFound("webchat session", id);
  return session;
}

/**
 * Removes the sessions and the mailbox of a webchat address. The sessions' tokens stop working. The
 * mailbox's entries are removed with their messages (`removeMail`).
 */
export async function forgetVisitor(tx: Tx, address: string): Promise<void> {
  // The transaction reads its own writes again in each pass. Growing chunks keep the total from
  // being quadratic.
  for (let chunk = 200; ; chunk *= 4) {
    const sessions = await tx.list(webchatSessionsOfAddress, [address], chunk);
    for (const session of sessions) tx.remove(webchatSessions, session);
    if (sessions.length < chunk) break;
  }
  const mailbox = await tx.get(mailboxByAddress, [address]);
  if (mailbox !== undefined) tx.remove(mailboxes, mailbox);
}
