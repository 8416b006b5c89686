import { TidingsError } from "../../../../src/kernel/errors.ts";
import { isLost } from "../errors.ts";
import { Batch, type Result, type Statement } from "./batch.ts";
import { isEventful, type PostgresClient } from "./client.ts";

/** A server that does not answer for so long is taken for gone. Beyond every time-out that is set on the server. */
const patienceMs = 30_000;

/** One connection, used for one batch at a time. */
export class Connection {
  readonly client: PostgresClient;
  /** The client, where it takes batches. */
  readonly #batches: BatchingClient | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #lost = false;
  readonly #undo: (() => void)[] = [];

  constructor(client: PostgresClient) {
    this.client = client;
    this.#batches = takesBatches(client) ? client : undefined;
  }

  /** It failed, or is in a state that nobody knows: not to be used again. */
  get lost(): boolean {
    return this.#lost;
  }

  lose(): void {
    this.#lost = true;
  }

  /** Whether statements outside of a transaction are one, up to the first that fails. */
  get batchesAreAtomic(): boolean {
    return this.#batches !== undefined;
  }

  /**
   * Runs statements in order, in one round trip where the driver lets it; those behind one that fails are not run. Waits for batches that
   * were given before.
   */
  run(statements: readonly Statement[]): Promise<readonly Result[]> {
    const run = this.#last.then(() => this.#bounded(statements));
    this.#last = run.catch(() => {});
    return run;
  }

  async #bounded(statements: readonly Statement[]): Promise<readonly Result[]> {
    let timer: NodeJS.Timeout | undefined;
    const silence = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new TidingsError("storage_unavailable", "The PostgreSQL server does not answer."));
      }, patienceMs);
    });
    try {
      const results =
        this.#batches === undefined
          ? this.#oneByOne(statements)
          : batched(this.#batches, statements);
      return await Promise.race([results, silence]);
    } catch (error) {
      this.#lost ||= isLost(error);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async #oneByOne(statements: readonly Statement[]): Promise<readonly Result[]> {
    const results: Promise<Result>[] = [];
    for (const { text, values } of statements) {
      const query = this.client.query({ text, values: [...values], rowMode: "array" });
      const result = query.then(({ rows, command = "" }) => ({ rows, tag: command }));
      results.push(result);
      // In a transaction that has failed, those behind fail too.
      if (sendsAhead(this.client)) result.catch(() => {});
      else await result;
    }
    await Promise.allSettled(results);
    return Promise.all(results);
  }

  /** Until it is given back. Does nothing where the driver tells of no such event. */
  on(event: "notification" | "error" | "end", listener: (argument: unknown) => void): void {
    const { client } = this;
    if (!isEventful(client)) return;
    client.on(event, listener);
    this.#undo.push(() => client.removeListener(event, listener));
  }

  /** Takes its listeners from the client, which is given back. */
  retire(): void {
    for (const undo of this.#undo.splice(0)) undo();
  }
}

interface BatchingClient {
  query(batch: Batch): unknown;
}

function batched(
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

/** A client of `pg` that was told to send queries before the last is answered; it does so with its own queries alone. */
const sendsAhead = (client: object): boolean => "pipeline" in client && client.pipeline === true;

function takesBatches(client: object): client is BatchingClient {
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
