import { type Handle, handleOf, valuesOf } from "./handle.ts";

/** What is used of Prisma's interactive transactions (Prisma 7). */
export interface PrismaTransaction {
  $queryRawUnsafe(query: string, ...values: unknown[]): PromiseLike<unknown>;
}

/** What the driver said, which Prisma tells of an error beside its own code. */
interface DriverFailure {
  readonly originalCode: string;
  readonly originalMessage: string;
}

/** The `tx` of `prisma.$transaction(async (tx) => …)` on PostgreSQL, for `{ tx: fromPrisma(tx) }`. */
export function fromPrisma(tx: PrismaTransaction): Handle {
  return handleOf(tx, async ({ text, values }) => {
    try {
      const rows = (await tx.$queryRawUnsafe(text, ...values)) as readonly unknown[];
      return { rows: rows.map(valuesOf) };
    } catch (error) {
      throw withState(error);
    }
  });
}

/** An error as the driver threw it, with the SQLSTATE as its `code`. */
function withState(error: unknown): unknown {
  const failure = driverFailure(error);
  if (failure === undefined) return error;
  return Object.assign(new Error(failure.originalMessage, { cause: error }), {
    code: failure.originalCode,
  });
}

function driverFailure(error: unknown): DriverFailure | undefined {
  let value: unknown = error;
  for (const name of ["meta", "driverAdapterError", "cause"]) {
    if (typeof value !== "object" || value === null) return undefined;
    value = Reflect.get(value, name);
  }
  if (typeof value !== "object" || value === null) return undefined;
  return "originalCode" in value && "originalMessage" in value
    ? (value as DriverFailure)
    : undefined;
}
