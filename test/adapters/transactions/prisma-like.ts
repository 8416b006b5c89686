/**
 * Behaves like Prisma 7.10 with its adapter for `pg` in raw queries. The real client has to be
 * generated, which needs a download. The types are those of a generated client.
 */
import type { Pool, QueryResult } from "pg";

export interface PrismaLike {
  $queryRawUnsafe<T = unknown>(query: string, ...values: unknown[]): Promise<T>;
  $executeRawUnsafe(query: string, ...values: unknown[]): Promise<number>;
}

const int8 = 20;
const nothing = 2_278;

export async function prismaLike<T>(pool: Pool, work: (tx: PrismaLike) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let hasEnded = false;
  const run = async (text: string, values: unknown[]): Promise<QueryResult<unknown[]>> => {
    if (hasEnded) {
      const why = "A query cannot be executed on a committed transaction.";
      const message = `Transaction API error: Transaction already closed: ${why}`;
      throw Object.assign(new Error(message), { code: "P2028" });
    }
    return client.query<unknown[]>({ text, values, rowMode: "array" }).catch((error: unknown) => {
      const { code: originalCode, message: originalMessage } = error as {
        code: string;
        message: string;
      };
      const cause = { originalCode, originalMessage };
      const meta = { driverAdapterError: { name: "DriverAdapterError", cause } };
      throw Object.assign(new Error("Raw query failed."), { code: "P2010", meta });
    });
  };
  const tx: PrismaLike = {
    async $queryRawUnsafe<T>(query: string, ...values: unknown[]) {
      const { rows, fields } = await run(query, values);
      if (fields.some(({ dataTypeID }) => dataTypeID === nothing)) {
        throw new Error("can't deserialize void");
      }
      const made = (value: unknown, type: number | undefined): unknown =>
        type === int8 && typeof value === "string" ? BigInt(value) : value;
      return rows.map((row) =>
        Object.fromEntries(
          row.map((value, i) => [fields[i]?.name ?? "", made(value, fields[i]?.dataTypeID)]),
        ),
      ) as T;
    },
    $executeRawUnsafe: async (query, ...values) => (await run(query, values)).rowCount ?? 0,
  };
  try {
    await client.query("BEGIN");
    const value = await work(tx);
    await client.query("COMMIT");
    return value;
  } catch (error) {
    await client.query("ROLLBACK");
    throw error;
  } finally {
    hasEnded = true;
    client.release();
  }
}
