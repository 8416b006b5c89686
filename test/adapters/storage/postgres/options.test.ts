import pg from "pg";
import { describe, expect, it } from "vitest";
import { postgres, type PostgresOptions } from "../../../../adapters/storage/postgres/index.ts";

describe("a PostgreSQL storage's options", () => {
  it("are checked, and an error says what was expected and what came", () => {
    const wrong = (text: string): PostgresOptions => JSON.parse(text) as PostgresOptions;
    const pool = new pg.Pool();
    expect(() => postgres(wrong("{}"))).toThrow(/pool: expected a pg Pool, .*, got undefined/);
    expect(() => postgres({ pool, schema: "Robert'); DROP TABLE" })).toThrow(
      /schema: expected the name/,
    );
    expect(() => postgres({ pool, schema: "x".repeat(64) })).toThrow(/up to 63/);
    expect(() => postgres({ ...wrong('{"migrate": "yes"}'), pool })).toThrow(
      /migrate: expected true or false, got a string/,
    );
    expect(() => postgres({ pool }).begin()).toThrow(/not open/);
  });
});
