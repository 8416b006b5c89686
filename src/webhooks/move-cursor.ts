import { arm } from "../queue/index.ts";
import { bookmarkByName, bookmarks, webhookById } from "./rows.ts";
import { deliverJob, discardJob } from "./rules.ts";
import type { Scope, WebhookId } from "../kernel/index.ts";
import type { UnscopedTx } from "../store/index.ts";

export interface BookmarkMove {
  /** Where the bookmark was when the log was read. */
  readonly from: number;
  readonly to: number;
  /** Those that deliveries between the two are for, and whose they are. */
  readonly webhooks: ReadonlyMap<WebhookId, Scope>;
}

/**
 * Moves the bookmark along the log of deliveries, and arms the jobs of those that have new ones. Of engines that read the same stretch at once
 * one moves it: to the others it is elsewhere than where they read from, and they change nothing. What isn't enabled has no job until it is.
 */
export async function moveBookmark(
  tx: UnscopedTx,
  { from, to, webhooks }: BookmarkMove,
): Promise<void> {
  const bookmark = await tx.get(bookmarkByName, ["deliveries"]);
  if ((bookmark?.position ?? 0) !== from) return;
  const moved = { position: to, moved_at: tx.now };
  if (bookmark === undefined) tx.insert(bookmarks, { name: "deliveries", ...moved });
  else tx.update(bookmarks, bookmark, moved);
  await Promise.all(
    [...webhooks].map(async ([id, { account_id, mode }]) => {
      // Held: whoever enables it meanwhile must not miss these.
      const webhook = await tx.get(webhookById, [account_id, mode, id], { hold: true });
      // Deleted while these were on their way to be committed.
      if (webhook === undefined) return arm(tx, discardJob({ account_id, mode, id }, tx.now));
      if (webhook.status !== "enabled") return;
      await arm(tx, deliverJob(webhook, Math.max(tx.now, webhook.paused_until ?? 0)));
    }),
  );
}
