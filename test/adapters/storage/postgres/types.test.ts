import type pg from "pg";
import { MessagingEngine } from "tidings";
import { postgres, type PostgresClient, type PostgresPool } from "tidings/postgres";
import { sandbox } from "tidings/sandbox";
import { describe, expectTypeOf, it } from "vitest";

/** The compiler checks these (`npm run types`). */
describe("the handle of a transaction on PostgreSQL", () => {
  it("has the type of the pool's clients", () => {
    const onPg = (pool: pg.Pool) =>
      new MessagingEngine({ storage: postgres({ pool }), transports: [sandbox()] });
    expectTypeOf<ReturnType<typeof onPg>>().toEqualTypeOf<MessagingEngine<pg.PoolClient>>();

    interface Client extends pg.PoolClient {
      readonly tenant: string;
    }
    const onPromises = (pool: { connect(): Promise<Client> }) => postgres({ pool });
    type Handle = Parameters<
      Parameters<NonNullable<ReturnType<typeof onPromises>["transaction"]>>[0]
    >[0];
    expectTypeOf<Handle>().toEqualTypeOf<Client>();
    expectTypeOf(postgres<pg.PoolClient>).toBeCallableWith({ pool: {} as pg.Pool });
    expectTypeOf(postgres<PostgresClient>).toBeCallableWith({ pool: {} as PostgresPool });
  });
});
