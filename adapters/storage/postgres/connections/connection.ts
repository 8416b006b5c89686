import { TidingsError } from "../../../../src/kernel/index.ts";
import { endsConnection } from "../errors.ts";
import { Batch } from "./batch.ts";
import { isEventful, type PostgresClient } from "./driver.ts";
import { awaitsAnswers, keepSocketAlive, sendsAhead, transactionStatus } from "./pg-internals.ts";
import type { Result, Statement } from "./statement.ts";

/**
 * A server that does not respond for this long counts as gone. It is longer than every timeout that
 * is set on the server.
 */
const maxSilenceMs = 30_000;

/**
 * A connection that runs one batch of statements at a time. With a driver that cannot send batches,
 * it runs the statements of a batch one by one.
 */
export class Connection {
  readonly client: PostgresClient;
  /** The client, if it can run batches. */
  readonly #batches: BatchingClient | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #isLost = false;
  readonly #removals: (() => void)[] = [];

  constructor(client: PostgresClient) {
    this.client = client;
    this.#batches = canRunBatches(client) ? client : undefined;
  }

  /** The connection failed, or its state is unknown. It must not be used again. */
  get isLost(): boolean {
    return this.#isLost;
  }

  lose(): void {
    this.#isLost = true;
  }

  /** Whether a batch outside a transaction is one transaction. */
  get batchesAreAtomic(): boolean {
    return this.#batches !== undefined;
  }

  /**
   * Runs statements in order, in one round trip if the driver supports it. After one that fails,
   * the rest are skipped. Waits for earlier batches.
   */
  run(statements: readonly Statement[]): Promise<readonly Result[]> {
    return this.#next(() => withTimeout(this.#send(statements)));
  }

  /**
   * Like `run`, for statements that need an open transaction. If none is open, the first statement
   * fails and none of the others runs.
   */
  runInside(statements: readonly Statement[]): Promise<readonly Result[]> {
    return this.#next(() => withTimeout(this.#sendInside(statements)));
  }

  /**
   * Like `run`, for statements that may take hours. Probes of the operating system tell whether the
   * server is still there. They also keep routers from dropping the silent connection.
   */
  runLong(statements: readonly Statement[]): Promise<readonly Result[]> {
    keepSocketAlive(this.client, maxSilenceMs);
    return this.#next(() => this.#send(statements));
  }

  #next(work: () => Promise<readonly Result[]>): Promise<readonly Result[]> {
    const run = this.#last.then(work).catch((error: unknown) => {
      this.#isLost ||= endsConnection(error);
      throw error;
    });
    this.#last = run.catch(() => {});
    return run;
  }

  async #sendInside(statements: readonly Statement[]): Promise<readonly Result[]> {
    const { client } = this;
    if (!sendsAhead(client)) return this.#send(statements);
    // The client would send all statements before it learns that the first one failed, and each of
    // the others would be committed by itself. So it waits for all earlier queries, one of which
    // may end the transaction, and then checks that the transaction is open.
    while (awaitsAnswers(client)) await client.query({ text: "", values: [], rowMode: "array" });
    return this.#send(transactionStatus(client) === "T" ? statements : statements.slice(0, 1));
  }

  #send(statements: readonly Statement[]): Promise<readonly Result[]> {
    return this.#batches === undefined
      ? this.#oneByOne(statements)
      : runBatch(this.#batches, statements);
  }

  async #oneByOne(statements: readonly Statement[]): Promise<readonly Result[]> {
    const results: Promise<Result>[] = [];
    for (const { text, values } of statements) {
      const query = this.client.query({ text, values: [...values], rowMode: "array" });
      const result = query.then(({ rows, command = "" }) => ({ rows, tag: command }));
      results.push(result);
      // After a failure, the remaining statements of the transaction fail too.
      if (sendsAhead(this.client)) result.catch(() => {});
      else await result;
    }
    await Promise.allSettled(results);
    return Promise.all(results);
  }

  /** Listens until the connection is returned. Does nothing if the driver has no events. */
  on(event: "notification" | "error" | "end", listener: (argument: unknown) => void): void {
    const { client } = this;
    if (!isEventful(client)) return;
    client.on(event, listener);
    this.#removals.push(() => client.removeListener(event, listener));
  }

  /** Removes all listeners, when the connection is returned. */
  removeListeners(): void {
    for (const remove of this.#removals.splice(0)) remove();
  }
}

interface BatchingClient {
  query(batch: Batch): unknown;
}

/** @throws TidingsError `storage_unavailable` when the results do not come in time */
async function withTimeout<T>(results: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(
        new TidingsError(
          "storage_unavailable",
          `The PostgreSQL server did not respond within ${maxSilenceMs / 1_000} s.`,
        ),
      );
    }, maxSilenceMs);
  });
  try {
    return await Promise.race([results, silence]);
  } finally {
    clearTimeout(timer);
  }
}

function runBatch(
  client: BatchingClient,
  statements: readonly Statement[],
): Promise<readonly Result[]> {
  return new Promise((resolve, reject) => {
    const batch = new Batch(statements, (error, results = []) => {
      if (error === null) resolve(results);
      else reject(error);
    });
    client.query(batch);
  });
}

function canRunBatches(client: object): client is BatchingClient {
  if (sendsAhead(client)) return false;
  if (
    !("connection" in client) ||
    typeof client.connection !== "object" ||
    client.connection === null
  ) {
    return false;
  }
  const { connection } = client;
  return ["parse", "bind", "execute", "sync"].every(
    (name) => typeof Reflect.get(connection, name) === "function",
  );
}
