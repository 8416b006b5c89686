export interface MessageFacts {
  readonly id: string;
  readonly idempotency_key: string | null;
  readonly status: string;
}

export interface AttemptFacts {
  readonly id: string;
  readonly message_id: string;
  readonly outcome: string;
  readonly error_code: string | null;
  readonly answered_at: number | null;
  readonly leased_until: number;
}

/** Sees what is committed, whoever else works on the storage. */
export interface View extends AsyncDisposable {
  hasAttempt(id: string): Promise<boolean>;
  messages(): Promise<readonly MessageFacts[]>;
  attempts(): Promise<readonly AttemptFacts[]>;
  /** How many messages have not come to their end. */
  unsettled(): Promise<number>;
}

/** Asks in SQL that both databases understand; `?` stands for a value. */
export type Ask = (sql: string, ...values: readonly string[]) => Promise<readonly Readonly<Record<string, unknown>>[]>;

const ends = "'delivered', 'read', 'undelivered', 'failed'";

export function viewBy(ask: Ask, close: () => Promise<void>): View {
  return {
    hasAttempt: async (id) => (await ask("SELECT 1 FROM tidings_message_attempts WHERE id = ?", id)).length > 0,
    messages: () => ask("SELECT id, idempotency_key, status FROM tidings_messages") as Promise<never>,
    attempts: () =>
      ask(
        `SELECT id, message_id, outcome, error ->> 'code' AS error_code,
                CAST(answered_at AS double precision) AS answered_at,
                CAST(leased_until AS double precision) AS leased_until
           FROM tidings_message_attempts`,
      ) as Promise<never>,
    async unsettled() {
      const [row] = await ask(`SELECT count(*) AS count FROM tidings_messages WHERE status NOT IN (${ends})`);
      return Number(row?.["count"]);
    },
    [Symbol.asyncDispose]: close,
  };
}
