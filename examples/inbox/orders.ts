/** The application's own table, in the same SQLite file as the engine's tables. */
import type { DatabaseSync } from "node:sqlite";
import type { MessagingEngine } from "tidings";

export type Engine = MessagingEngine<DatabaseSync>;

export interface Order {
  readonly id: number;
  readonly phone: string;
  readonly item: string;
  /** The status of the message that confirms the order. */
  readonly message_status: string;
}

export async function createOrdersTable(engine: Engine): Promise<void> {
  await engine.transaction(async (db) => {
    db.exec(
      "CREATE TABLE orders (id INTEGER PRIMARY KEY, phone TEXT NOT NULL, " +
        "item TEXT NOT NULL, message_id TEXT NOT NULL)",
    );
  });
}

/** Stores an order and queues its message in one transaction: both are committed, or neither is. */
export async function placeOrder(engine: Engine, phone: string, item: string): Promise<number> {
  return engine.transaction(async (db) => {
    const body = `Thank you! Your ${item} will be on its way today. Any questions? Just reply.`;
    const message = await engine.messages.send({ to: phone, body }, { tx: db });
    const insert = db.prepare("INSERT INTO orders (phone, item, message_id) VALUES (?, ?, ?)");
    const { lastInsertRowid } = insert.run(phone, item, message.id);
    // The shop has one of each item. The error rolls back the order and its message.
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

/** The engine's tables have plain names and columns, so one query can join them with your own. */
export function listOrders(db: DatabaseSync): Order[] {
  const query =
    "SELECT o.id, o.phone, o.item, m.status AS message_status FROM orders o " +
    "JOIN tidings_messages m ON m.id = o.message_id ORDER BY o.id";
  return db.prepare(query).all() as unknown as Order[];
}
