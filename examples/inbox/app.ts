/** A shop: its orders, and the inbox in which its people answer whoever replies. */
import type { DatabaseSync } from "node:sqlite";
import express, { type Express, type NextFunction, type Request, type Response } from "express";
import { TidingsError } from "tidings";
import { type Engine, listOrders, placeOrder, SoldOut } from "./orders.ts";
import { inboxPage } from "./page.ts";

export function shop(engine: Engine, db: DatabaseSync): Express {
  const app = express();
  app.use(express.json(), express.urlencoded());
  app.get("/orders", (_request, response) => void response.json(listOrders(db)));
  app.post("/orders", async (request, response) => {
    const { phone = "", item = "" } = request.body as { phone?: string; item?: string };
    response.status(201).json({ id: await placeOrder(engine, phone, item) });
  });
  app.get("/", async (_request, response) => {
    const { data } = await engine.conversations.list({ status: "open" });
    const threads = data.map(async ({ id }) => {
      const newest = await engine.conversations.messages(id, { limit: 10 });
      return [id, newest.data.toReversed()] as const;
    });
    response.type("html").send(inboxPage(data, new Map(await Promise.all(threads))));
  });
  app.get(
    "/inbox",
    async (_request, response) => void response.json(await engine.conversations.list({ status: "open" })),
  );
  app.post("/inbox/:id/reply", async (request, response) => {
    const { body = "" } = request.body as { body?: string };
    await engine.conversations.reply(request.params.id, { body, author_id: "shop" });
    await engine.conversations.markRead(request.params.id);
    response.redirect(303, "/");
  });
  // Express knows it by its four parameters.
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    const status = error instanceof TidingsError ? error.status : error instanceof SoldOut ? 409 : 500;
    response.status(status).json({ error: status === 500 ? "Something went wrong." : (error as Error).message });
  });
  return app;
}
