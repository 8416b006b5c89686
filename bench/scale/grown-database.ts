/** Databases that differ only in how many messages and contacts they have. */
import { copyFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import type { Pool } from "pg";
import { MessagingEngine } from "../../adapters/entry.ts";
import { postgres } from "../../adapters/storage/postgres/index.ts";
import { sqlite } from "../../adapters/storage/sqlite/index.ts";
import { system } from "../../adapters/system/index.ts";
import { dayMs } from "../../src/kernel/index.ts";
import type { HttpClient } from "../../src/ports/http-client.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import { makeDatabase, type Database } from "../../test/support/postgres/temporary-database.ts";
import { instantCarrier } from "../support/engines.ts";
import { concurrently } from "../support/measure.ts";
import { poolSize } from "../support/postgres-databases.ts";
import { cloneRows, copiedText, seedNumber, windowMs, type RunSql } from "./clone-rows.ts";

/** One of five messages comes from the contact. */
const messagesOfContact = 5;
const seedContacts = 400;
export const seedMessages: number = seedContacts * messagesOfContact;
const contactsOfFamily = 50;

/** A storage's databases, by number. */
export interface Databases {
  readonly storage: "SQLite" | "PostgreSQL";
  /** Opens an empty database. */
  create(name: string): Promise<OpenDatabase>;
  /** Opens a copy of a database, whose engines have stopped. */
  copy(from: OpenDatabase, name: string): Promise<OpenDatabase>;
}

export interface OpenDatabase {
  readonly name: string;
  port(): StoragePort;
  /** Opens a session for SQL, past the engine. */
  session(): Promise<SqlSession>;
}

export interface SqlSession extends AsyncDisposable {
  readonly run: RunSql;
}

export function sqliteDatabases(directory: string): Databases {
  const open = (name: string): OpenDatabase => ({
    name,
    port: () => sqlite({ file: `${directory}/${name}.db` }),
    session() {
      const database = new DatabaseSync(`${directory}/${name}.db`);
      database.exec("PRAGMA synchronous = OFF; PRAGMA cache_size = -262144");
      return Promise.resolve({
        run: (sql) => Promise.resolve(Object.values(database.prepare(sql).get() ?? {})[0]),
        [Symbol.asyncDispose]: () => Promise.resolve(database.close()),
      });
    },
  });
  return {
    storage: "SQLite",
    create: (name) => Promise.resolve(open(name)),
    async copy(from, name) {
      await copyFile(`${directory}/${from.name}.db`, `${directory}/${name}.db`);
      return open(name);
    },
  };
}

/** The databases are removed with the server. */
export function postgresDatabases(server: string): Databases {
  const pools = new Map<string, Pool>();
  const open = (name: string, database: Database): OpenDatabase => ({
    name,
    port() {
      // Engines leave the pool open, and the next engine uses the same one.
      const pool = pools.get(name) ?? database.pool({ max: poolSize });
      pools.set(name, pool);
      return postgres({ pool });
    },
    async session() {
      const pool = database.pool({ max: 1 });
      await pool.query("SET synchronous_commit = off; SET maintenance_work_mem = '256MB'");
      return {
        async run(sql) {
          const { rows } = await pool.query<Record<string, unknown>>(sql);
          return Object.values(rows[0] ?? {})[0];
        },
        [Symbol.asyncDispose]: () => pool.end(),
      };
    },
  });
  return {
    storage: "PostgreSQL",
    create: async (name) => open(name, await makeDatabase(server, undefined, name)),
    async copy(from, name) {
      await pools.get(from.name)?.end();
      pools.delete(from.name);
      return open(name, await makeDatabase(server, from.name, name));
    },
  };
}

/** A contact of a grown database, and what its history is found by. */
export interface GrownContact {
  readonly phone: string;
  readonly conversation: string;
  /** The family name of 50 contacts. */
  readonly family: string;
  /** A word that only one message has. */
  readonly word: string;
}

export interface Seed {
  readonly database: OpenDatabase;
  /** When the window of the seed began. */
  readonly start: number;
  readonly contacts: readonly GrownContact[];
  readonly webhook: string;
}

/** The time of an engine, which tests of growth set. */
export class SetClock {
  #ahead = 0;

  readonly options = {
    ...system(),
    clock: { ...system().clock, now: (): number => Date.now() + this.#ahead },
  };

  set(now: number): void {
    this.#ahead = Math.floor(now) - Date.now();
  }
}

/** A receiver that takes every delivery at once. */
const receiver: HttpClient = {
  send: () =>
    Promise.resolve({
      outcome: "answered",
      address: "127.0.0.1",
      status: 204,
      headers: {},
      body: new Uint8Array(),
      truncated: false,
    }),
  close() {},
};

/** Longer than five million messages last, so that nothing expires before `expire`. */
const retentionDays = 31;

export function grownEngine(database: OpenDatabase, clock: SetClock): MessagingEngine {
  return new MessagingEngine({
    eventRetentionDays: retentionDays,
    storage: database.port(),
    transports: [instantCarrier()],
    http: { client: receiver, allow: ["127.0.0.1"] },
    ...clock.options,
  });
}

/** Lets an engine write the rows of the seed, with the times spread over its window. */
export async function writeSeed(databases: Databases, start: number): Promise<Seed> {
  const database = await databases.create("tidings_seed");
  const clock = new SetClock();
  clock.set(start - 60_000);
  const contacts: GrownContact[] = [];
  await using engine = grownEngine(database, clock);
  await engine.senders.list();
  const webhook = await engine.webhooks.create({
    url: "http://127.0.0.1:9/",
    events: ["message.received"],
  });
  let delivered = 0;
  engine.on("message.sent", () => void delivered++);
  clock.set(start);
  await engine.start();
  await concurrently(seedContacts, 8, async (i) => {
    clock.set(start + Math.floor((i / seedContacts) * windowMs * 0.9));
    const number = seedNumber(i);
    const phone = `+${number}`;
    const family = `fa${seedNumber(Math.floor(i / contactsOfFamily))}`;
    const word = `ref${number}`;
    await engine.contacts.create({ phone, name: `Given${i % 20} ${family}` });
    const { conversation_id } = await engine.sandbox.inbound({
      from: phone,
      body: `Is my table ready? ${word}`,
    });
    contacts.push({ phone, family, word, conversation: conversation_id });
    for (let sent = 1; sent < messagesOfContact; sent++) {
      await engine.messages.send({ to: phone, body: `Your table ${sent} is booked for 7 pm.` });
    }
  });
  const isDelivered = async (): Promise<boolean> => {
    if (delivered < seedContacts * (messagesOfContact - 1)) return false;
    const { data } = await engine.webhooks.deliveries(webhook.id, { status: "pending", limit: 1 });
    return data.length === 0;
  };
  while (!(await isDelivered())) await new Promise((resolve) => setTimeout(resolve, 20));
  return { database, start, contacts, webhook: webhook.id };
}

/** A database with `copies` times the rows of the seed. */
export class GrownDatabase {
  readonly database: OpenDatabase;
  readonly webhook: string;
  readonly clock = new SetClock();
  readonly copies: number;
  readonly #seed: Seed;

  constructor(seed: Seed, database: OpenDatabase, copies: number) {
    this.#seed = seed;
    this.database = database;
    this.copies = copies;
    this.webhook = seed.webhook;
    this.clock.set(seed.start + copies * windowMs);
  }

  get messages(): number {
    return this.copies * seedMessages;
  }

  static async grow(databases: Databases, seed: Seed, copies: number): Promise<GrownDatabase> {
    const database = await databases.copy(seed.database, `tidings_grown_${copies}`);
    const { start } = seed;
    const { storage } = databases;
    await using session = await database.session();
    await cloneRows({ run: session.run, storage, start, copies });
    return new GrownDatabase(seed, database, copies);
  }

  /** Moves the clock, so that this part of the first copy's events expires. */
  expire(part: number): void {
    this.clock.set(this.#seed.start + retentionDays * dayMs + part * windowMs);
  }

  /** Returns a contact that is as far into the database whatever its size. `part` is 0 to 1. */
  contact(part: number): GrownContact {
    const { contacts, start } = this.#seed;
    const place = Math.floor(part * contacts.length * this.copies);
    const copied = (text: string): string =>
      copiedText(text, start, Math.floor(place / contacts.length));
    const contact = contacts[place % contacts.length];
    if (contact === undefined) throw new Error("the seed has no contacts");
    return {
      phone: copied(contact.phone),
      family: copied(contact.family),
      word: copied(contact.word),
      conversation: copied(contact.conversation),
    };
  }
}
