import {
  hasMethods,
  memberOf,
  option,
  optionsObject,
  parseOptions,
} from "../../src/kernel/index.ts";
import { driverError, handleOf, noTransaction, valuesOf, type Handle } from "./handle.ts";

/**
 * Returns the `tx` option for a Prisma interactive transaction on PostgreSQL:
 *
 *     prisma.$transaction((tx) => engine.messages.send(input, { tx: fromPrisma(tx) }))
 * @throws TidingsError `invalid_option` when `tx` is not a transaction of Prisma
 */
export function fromPrisma(tx: PrismaTransaction): Handle {
  parseOptions("fromPrisma: ", prismaSchema, { tx });
  return handleOf(tx, async ({ text, values }) => {
    try {
      const rows = (await tx.$queryRawUnsafe(text, ...values)) as readonly unknown[];
      return { rows: rows.map(valuesOf) };
    } catch (error) {
      throw withSqlState(error);
    }
  });
}

const prismaSchema = optionsObject({
  tx: option<PrismaTransaction>("a transaction of Prisma", (tx) =>
    hasMethods(tx, "$queryRawUnsafe"),
  ),
});

/** The parts of a Prisma interactive transaction that `fromPrisma` uses (Prisma 7). */
export interface PrismaTransaction {
  /** Runs a statement and returns its rows as objects. */
  $queryRawUnsafe(query: string, ...values: unknown[]): PromiseLike<unknown>;
}

/**
 * Returns the driver's error, with the SQLSTATE as its `code`, from Prisma's error. Prisma itself
 * refuses the statements of a transaction that has ended (P2028), which is no failure of the
 * server, unless the transaction took too long.
 */
function withSqlState(error: unknown): unknown {
  const original = driverErrorOf(error);
  if (original !== undefined) {
    return driverError(original.originalMessage, original.originalCode, error);
  }
  const isEnded = memberOf(error, "code") === "P2028" && error instanceof Error;
  if (!isEnded || error.message.includes("expired transaction")) return error;
  return driverError(error.message, noTransaction, error);
}

/** The driver's code and message, at `meta.driverAdapterError.cause` of a Prisma error. */
interface DriverError {
  readonly originalCode: string;
  readonly originalMessage: string;
}

function driverErrorOf(error: unknown): DriverError | undefined {
  const cause = memberOf(memberOf(memberOf(error, "meta"), "driverAdapterError"), "cause");
  if (typeof cause !== "object" || cause === null) return undefined;
  return "originalCode" in cause && "originalMessage" in cause ? (cause as DriverError) : undefined;
}
