/**
 * The shop's Express application: its orders, and the inbox in which the staff answers customers.
 */
import type { DatabaseSync } from "node:sqlite";
import express, { type Express, type NextFunction, type Request, type Response } from "express";
import { TidingsError } from "tidings";
import { type Engine, listOrders, placeOrder, SoldOut } from "./orders.ts";
import { inboxPage, inboxPolicy } from "./inbox-page.ts";

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
      const newestFirst = await engine.conversations.messages(id, { limit: 10 });
      return [id, newestFirst.data.toReversed()] as const;
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
  // Express recognizes an error handler by its four parameters.
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
 * Refuses forms that other websites send from a staff member's browser. `Sec-Fetch-Site` says where
 * a request comes from. A real application also checks who is signed in.
 */
function refuseOtherSites(request: Request, response: Response, next: NextFunction): void {
  const site = request.get("Sec-Fetch-Site") ?? "none";
  if (request.method === "GET" || site === "same-origin" || site === "none") next();
  else response.status(403).json({ error: "Requests from other sites are refused." });
}

/** Returns the fields of a JSON body or a form, each as text. */
function fieldsOf(request: Request): Readonly<Partial<Record<string, string>>> {
  const fields = Object.entries((request.body ?? {}) as object).map(
    ([name, value]) => [name, String(value)] as const,
  );
  return Object.fromEntries(fields);
}
