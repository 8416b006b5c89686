/** The shop's Express application: its orders, and the inbox in which the staff answers customers. */
import { randomUUID } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import express, { type Express, type NextFunction, type Request, type Response } from "express";
import { TidingsError } from "tidings";
import { expressHandler } from "tidings/express";
import { inboxHandler } from "tidings/inbox";
import { listOrders, placeOrder, SoldOut, type Engine } from "./orders.ts";

/** The people who may answer customers. A real application keeps them in its database. */
const staff = [
  { id: "anna", name: "Anna" },
  { id: "ben", name: "Ben" },
];

export function shop(engine: Engine, db: DatabaseSync): Express {
  /** The signed-in people by the value of their cookie. */
  const sessions = new Map<string, (typeof staff)[number]>();
  const inbox = inboxHandler(engine, {
    authorize({ headers }) {
      const [, session = ""] = /(?:^|; )shop=([\w-]+)/.exec(headers["cookie"] ?? "") ?? [];
      const operator = sessions.get(session);
      if (operator === undefined) return null;
      return { ...engine.account().scope, operator, may: inboxScopes };
    },
  });

  const app = express();
  app.use("/inbox", expressHandler(inbox));
  app.use(refuseOtherSites, express.json(), express.urlencoded());
  app.get("/orders", (_request, response) => void response.json(listOrders(db)));
  app.post("/orders", async (request, response) => {
    const { phone = "", item = "" } = fieldsOf(request);
    response.status(201).json({ id: await placeOrder(engine, phone, item) });
  });
  app.get("/", (_request, response) => void response.type("html").send(signInPage));
  // A real application asks for a password here.
  app.post("/sign-in", (request, response) => {
    const operator = staff.find(({ id }) => id === fieldsOf(request)["id"]);
    if (operator === undefined) {
      response.status(401).json({ error: "No such person." });
      return;
    }
    const session = randomUUID();
    sessions.set(session, operator);
    response.cookie("shop", session, { httpOnly: true, sameSite: "strict" });
    response.redirect(303, "/inbox/");
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

const inboxScopes = [
  "conversations:read",
  "conversations:write",
  "messages:read",
  "messages:write",
  "contacts:read",
  "contacts:write",
  "events:read",
] as const;

const signInPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign in</title>
<h1>Who are you?</h1>
<form action="/sign-in" method="post">
${staff.map(({ id, name }) => `<button name="id" value="${id}">${name}</button>`).join("\n")}
</form>
</html>
`;

/**
 * Refuses forms that other websites send from a staff member's browser. `Sec-Fetch-Site` says where
 * a request comes from.
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
