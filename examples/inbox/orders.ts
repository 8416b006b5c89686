/** The application's own table, in the file that the engine keeps its tables in. */
import type { DatabaseSync } from "node:sqlite";
import type { MessagingEngine } from "tidings";

export type Engine = MessagingEngine<DatabaseSync>;

export interface Order {
  readonly id: number;
  readonly phone: string;
  readonly item: string;
  /** What became of the text that confirms it. */
  readonly text: string;
}

export async function createOrders(engine: Engine): Promise<void> {
  await engine.transaction(async (db) => {
    db.exec(
      "CREATE TABLE orders (id INTEGER PRIMARY KEY, phone TEXT NOT NULL, item TEXT NOT NULL, message_id TEXT NOT NULL)",
    );
  });
}

/** Writes an order and queues its text in one transaction: both are there, or neither is. */
export async function placeOrder(engine: Engine, phone: string, item: string): Promise<number> {
  return engine.transaction(async (db) => {
    const text = `Thank you! Your ${item} will be on its way today. Any questions? Just reply.`;
    const message = await engine.messages.send({ to: phone, body: text }, { tx: db });
    const insert = db.prepare("INSERT INTO orders (phone, item, message_id) VALUES (?, ?, ?)");
    const { lastInsertRowid } = insert.run(phone, item, message.id);
    // The shop sells one of each; the message goes the way of the order that it belongs to.
    const { sold } = db.prepare("SELECT count(*) AS sold FROM orders WHERE item = ?").get(item) as {
      sold: number;
    };
    if (sold > 1) throw new SoldOut(item);
    return Number(lastInsertRowid);
  });
}

export class SoldOut extends Error {
  constructor(item: string) {
    super(`The ${item} is sold out.`);
  }
}

/** The engine's tables have plain names and columns, so one query answers what became of the texts. */
export function listOrders(db: DatabaseSync): Order[] {
  const query =
    "SELECT o.id, o.phone, o.item, m.status AS text FROM orders o JOIN tidings_messages m ON m.id = o.message_id ORDER BY o.id";
  return db.prepare(query).all() as unknown as Order[];
}
