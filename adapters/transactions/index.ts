/**
 * Functions that turn a query builder's open transaction into a value for the `tx` option of a
 * command, so that the command commits or rolls back together with the host application's rows.
 */

export {
  type DrizzleQuery,
  type DrizzleSession,
  type DrizzleTransaction,
  fromDrizzle,
} from "./drizzle.ts";
export type { Handle, Statement } from "./handle.ts";
export { fromKnex, type KnexTransaction } from "./knex.ts";
export { fromKysely, type KyselyQuery, type KyselyTransaction } from "./kysely.ts";
export { fromPrisma, type PrismaTransaction } from "./prisma.ts";
