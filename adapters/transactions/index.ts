/** Transactions of the host's query builder, as the handles that a change takes as `{ tx }`. */
export type { DrizzleSession, DrizzleTransaction } from "./drizzle.ts";
export { fromDrizzle } from "./drizzle.ts";
export type { Handle, Statement } from "./handle.ts";
export type { KnexTransaction } from "./knex.ts";
export { fromKnex } from "./knex.ts";
export type { KyselyQuery, KyselyTransaction } from "./kysely.ts";
export { fromKysely } from "./kysely.ts";
export type { PrismaTransaction } from "./prisma.ts";
export { fromPrisma } from "./prisma.ts";
