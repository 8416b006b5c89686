import { onTestFinished } from "vitest";
import { postgres, type PostgresOptions } from "../../../../../adapters/storage/postgres/index.ts";
import type { StoragePort } from "../../../../../src/ports/storage.ts";
import { firstSchema } from "../../notes.ts";
import { says } from "../../port.ts";

/** An error of the storage after which a retry may succeed. */
export const unavailable = (message: RegExp): object => ({
  code: "storage_unavailable",
  retryable: true,
  message: says(message),
});

/** Opens a storage with notes on the connections of a pool. */
export async function opened(
  pool: PostgresOptions["pool"],
  schema = "public",
): Promise<Required<StoragePort>> {
  const port = postgres({ pool, schema });
  onTestFinished(() => port.close());
  await port.open(firstSchema);
  return port as Required<StoragePort>;
}

/** Begins a transaction, which occupies a connection until it is told to end. */
export async function openTransaction(
  port: Required<StoragePort>,
): Promise<{ readonly end: () => Promise<void> }> {
  const began = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const transaction = port.transaction(async () => {
    began.resolve();
    await gate.promise;
  });
  await began.promise;
  return {
    end: () => {
      gate.resolve();
      return transaction;
    },
  };
}
