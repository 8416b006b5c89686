import type { JobHandler } from "../queue/dispatcher.ts";
import { roadOf } from "../queue/rules.ts";
import { deliveries, type DeliveryRow, type WebhookRow, webhooks } from "./rows.ts";
import type { Write } from "../ports/storage.ts";
import { DeliveryTurn, type TurnServices } from "./drain.ts";
import type { HttpSettings } from "../options.ts";
import { scopeOf } from "../queue/scope.ts";

export interface DeliverWork extends TurnServices {
  readonly http: HttpSettings | undefined;
}

/** Between two of those that may hang, in milliseconds. */
const slowEveryMs = 5;

/** Sends a webhook its deliveries for as long as some are due. */
export function deliverHandler(work: DeliverWork): JobHandler {
  const { store, clock, http } = work;
  /**
   * The beginning of the last one that has yet to show that it answers. They begin one by one: those that hang are given up when their time
   * is up, and would end all at once, while everybody else waits.
   */
  let begun = Promise.resolve();
  /** Those under way here, by their webhooks: what becomes due meanwhile need not wait for an answer that is slow to come. */
  const turns = new Map<string, DeliveryTurn>();
  store.onCommit((writes) => {
    if (turns.size === 0) return;
    for (const write of writes) {
      if (write.collection === webhooks) turns.get(idOf(write))?.webhookChanged();
      if (write.collection !== deliveries || !("row" in write)) continue;
      const { id, webhook_id } = write.row as Pick<DeliveryRow, "id" | "webhook_id">;
      turns.get(webhook_id)?.deliveryWritten(id, write.kind === "insert");
    }
  });
  return {
    kind: "deliver",
    async run(claim, turn) {
      const { key } = claim;
      if (http === undefined) throw new Error("webhooks need an HTTP client");
      const leasedAt = clock.now();
      if (roadOf(claim.lane) === "slow_webhooks") {
        begun = begun.then(() =>
          turn.isStopping() ? undefined : clock.sleep(slowEveryMs, turn.abort),
        );
        await begun;
      }
      const own = new DeliveryTurn({
        ...work,
        http,
        claim,
        scope: scopeOf(claim),
        turn,
        leasedAt,
      });
      turns.set(key, own);
      try {
        await own.run();
      } finally {
        turns.delete(key);
      }
    },
  };
}

/** Of what is a webhook's. Empty where it stays as it is. */
function idOf(write: Write): string {
  if (write.kind === "hold" || write.kind === "add") return "";
  return write.kind === "insert" ? (write.row as Pick<WebhookRow, "id">).id : String(write.key[2]);
}
