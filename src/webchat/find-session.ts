import { webchatSessionById, type WebchatSessionRow } from "./rows.ts";
import { notFound } from "../kernel/index.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";

/**
 * A visitor's session, while it lasts.
 * @throws TidingsError `not_found`
 */
export async function findSession(tx: Tx, id: string): Promise<Seen<WebchatSessionRow>> {
  const session = await tx.get(webchatSessionById, [id], { hold: true });
  if (session === undefined || session.expires_at <= tx.now) throw notFound("webchat session");
  return session;
}
