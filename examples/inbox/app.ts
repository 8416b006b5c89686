/** A shop: its orders, and the inbox in which its people answer whoever replies. */
import type { DatabaseSync } from "node:sqlite";
import express, { type Express, type NextFunction, type Request, type Response } from "express";
import { TidingsError } from "tidings";
import { type Engine, listOrders, placeOrder, SoldOut } from "./orders.ts";
import { inboxPage, inboxPolicy } from "./page.ts";

export function shop(engine: Engine, db: DatabaseSync): Express {
  const app = express();
  app.use(refuseOtherSites, express.json(), express.urlencoded());
  app.get("/orders", (_request, response) => void response.json(listOrders(db)));
  app.post("/orders", async (request, response) => {
    const { phone = "", item = "" } = fieldsOf(request);
    response.status(201).json({ id: await placeOrder(engine, phone, item) });
  });
  app.get("/", async (_request, response) => {
    const { data } = await engine.conversations.list({ status: "open" });
    const threads = data.map(async ({ id }) => {
      const newest = await engine.conversations.messages(id, { limit: 10 });
      return [id, newest.data.toReversed()] as const;
    });
    const page = inboxPage(data, new Map(await Promise.all(threads)));
    response.type("html").set("Content-Security-Policy", inboxPolicy).send(page);
  });
  app.get(
    "/inbox",
    async (_request, response) =>
      void response.json(await engine.conversations.list({ status: "open" })),
  );
  app.post("/inbox/:id/reply", async (request, response) => {
    const { body = "" } = fieldsOf(request);
    await engine.conversations.reply(request.params.id, { body, author_id: "shop" });
    await engine.conversations.markRead(request.params.id);
    response.redirect(303, "/");
  });
  // Express knows it by its four parameters.
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    const status =
      error instanceof TidingsError ? error.status : error instanceof SoldOut ? 409 : 500;
    response
      .status(status)
      .json({ error: status === 500 ? "Something went wrong." : (error as Error).message });
  });
  return app;
}

/**
 * A form on any page of the web can be sent here, from the browser of whoever may use the inbox. Browsers say where it comes from; your
 * application asks who is signed in besides.
 */
function refuseOtherSites(request: Request, response: Response, next: NextFunction): void {
  const site = request.get("Sec-Fetch-Site") ?? "none";
  if (request.method === "GET" || site === "same-origin" || site === "none") next();
  else response.status(403).json({ error: "Not from another site." });
}

/** Of JSON or a form. Each is text, whatever was sent. */
function fieldsOf(request: Request): Readonly<Partial<Record<string, string>>> {
  const fields = Object.entries((request.body ?? {}) as object).map(
    ([name, value]) => [name, String(value)] as const,
  );
  return Object.fromEntries(fields);
}
