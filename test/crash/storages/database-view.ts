export interface StoredMessage {
  readonly id: string;
  readonly idempotency_key: string | null;
  readonly status: string;
}

export interface StoredAttempt {
  readonly id: string;
  readonly message_id: string;
  readonly outcome: string;
  readonly error_code: string | null;
  readonly answered_at: number | null;
  readonly leased_until: number;
}

export interface StoredEvent {
  readonly id: string;
  readonly type: string;
  readonly position: number;
}

export interface StoredDelivery {
  readonly id: string;
  readonly event_id: string;
  /** The last part of the webhook's URL. */
  readonly endpoint: string;
  readonly status: string;
  readonly attempts: number;
  readonly next_attempt_at: number | null;
}

export interface StoredDeliveryAttempt {
  readonly delivery_id: string;
  readonly number: number;
  readonly started_at: number;
  readonly duration_ms: number;
  readonly status_code: number | null;
}

/** Reads the committed rows, while engines work on the same database. */
export interface DatabaseView extends AsyncDisposable {
  hasAttempt(id: string): Promise<boolean>;
  messages(): Promise<readonly StoredMessage[]>;
  attempts(): Promise<readonly StoredAttempt[]>;
  events(): Promise<readonly StoredEvent[]>;
  deliveries(): Promise<readonly StoredDelivery[]>;
  deliveryAttempts(): Promise<readonly StoredDeliveryAttempt[]>;
  /** The number of messages and deliveries without a final status. */
  unsettled(): Promise<number>;
}

/** Runs SQL that both databases understand. `?` stands for a value. */
export type Query = (
  sql: string,
  ...values: readonly string[]
) => Promise<readonly Readonly<Record<string, unknown>>[]>;

const finalStatuses = "'delivered', 'read', 'undelivered', 'failed'";

export function databaseView(query: Query, close: () => Promise<void>): DatabaseView {
  return {
    hasAttempt: async (id) =>
      (await query("SELECT 1 FROM tidings_message_attempts WHERE id = ?", id)).length > 0,
    messages: () =>
      query("SELECT id, idempotency_key, status FROM tidings_messages") as Promise<never>,
    attempts: () =>
      query(
        `SELECT id, message_id, outcome, error ->> 'code' AS error_code,
                CAST(answered_at AS double precision) AS answered_at,
                CAST(leased_until AS double precision) AS leased_until
           FROM tidings_message_attempts`,
      ) as Promise<never>,
    events: () =>
      query(
        "SELECT id, type, CAST(position AS double precision) AS position FROM tidings_events",
      ) as Promise<never>,
    async deliveries() {
      const rows = await query(
        `SELECT d.id, d.event_id, w.url, d.status, CAST(d.attempts AS double precision) AS attempts,
                CAST(d.next_attempt_at AS double precision) AS next_attempt_at
           FROM tidings_deliveries d JOIN tidings_webhooks w ON w.id = d.webhook_id`,
      );
      return rows.map(({ url, ...row }) => ({
        ...row,
        endpoint: String(url).split("/").at(-1),
      })) as never;
    },
    deliveryAttempts: () =>
      query(
        `SELECT delivery_id, CAST(number AS double precision) AS number,
                CAST(started_at AS double precision) AS started_at,
                CAST(duration_ms AS double precision) AS duration_ms,
                CAST(status_code AS double precision) AS status_code
           FROM tidings_delivery_attempts`,
      ) as Promise<never>,
    async unsettled() {
      const [row] = await query(
        `SELECT (SELECT count(*) FROM tidings_messages WHERE status NOT IN (${finalStatuses})) +
                (SELECT count(*) FROM tidings_deliveries WHERE status = 'pending') AS count`,
      );
      return Number(row?.["count"]);
    },
    [Symbol.asyncDispose]: close,
  };
}
