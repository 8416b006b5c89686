/**
 * A valid request of the owner for each route. The chapters change one thing in it: the key, an id,
 * a field. So a new route is attacked as soon as it has an example, and `examples.test.ts` fails
 * until it has one.
 */
import type { ApiResponse } from "../../src/api/http.ts";
import { defaultLimits } from "../../src/kernel/limits.ts";
import { apiRoutes } from "../../src/modules.ts";
import { isGuarded, type ApiRoute, type Guarded } from "../../src/operations/api-route.ts";
import type { KeyScope } from "../../src/operations/caller.ts";
import { textOf, type TestRequest } from "../api/call.ts";
import type { Owner } from "./owner.ts";

export const allRoutes: readonly ApiRoute[] = apiRoutes(defaultLimits);
export const guardedRoutes: readonly Guarded[] = allRoutes.filter(isGuarded);
export type Scoped = Extract<ApiRoute, { readonly scopes: readonly unknown[] }>;
export const scopedRoutes: readonly Scoped[] = guardedRoutes.filter(
  (route): route is Scoped => "scopes" in route,
);

export const nameOf = ({ method, path }: Pick<ApiRoute, "method" | "path">): string =>
  `${method} ${path}`;

/** A route with its name, for `test.each`. */
export const titled = <R extends ApiRoute>(route: R): { name: string; route: R } => ({
  name: nameOf(route),
  route,
});

export type Body = Readonly<Record<string, unknown>>;

interface Example {
  readonly body?: Body;
  readonly query?: string;
  /** Ids other than the owner's usual ones. */
  readonly ids?: Readonly<Record<string, string>>;
}

const june = "from=2026-06-01T00:00:00Z&to=2026-06-02T00:00:00Z";

/** Routes that need a body, a query or another id than the owner's usual one. */
const examples: Readonly<Record<string, (own: Owner) => Example>> = {
  "POST /v1/api-keys": () => ({ body: { name: "third" } }),
  "GET /v1/usage/hours": () => ({ query: june }),
  "PUT /v1/operators/:id": () => ({ body: { name: "Kim" } }),
  "POST /v1/contacts": () => ({ body: { phone: "+15005550003", name: "Cy" } }),
  "PATCH /v1/contacts/:id": () => ({ body: { name: "Anna" } }),
  "GET /v1/contacts/search": () => ({ query: "q=bo" }),
  "POST /v1/contacts/import": () => ({ body: { contacts: [{ phone: "+15005550004" }] } }),
  "POST /v1/contacts/:id/merge": ({ other_contact }) => ({ body: { contact_id: other_contact } }),
  "GET /v1/contacts/:id/merge-preview": ({ other_contact }) => ({
    query: `contact_id=${other_contact}`,
  }),
  "POST /v1/contacts/:id/observations": () => ({ body: { content: "walks", kind: "habit" } }),
  "PUT /v1/contacts/:id/consents/:medium": () => ({ body: { status: "opted_out" } }),
  "POST /v1/senders": () => ({
    body: { address: "+15005550997", channels: ["sms"], transport: "sandbox" },
  }),
  "PATCH /v1/senders/:id": () => ({ body: { default: true } }),
  "POST /v1/conversations": () => ({ body: { to: "+15005550005" } }),
  "PATCH /v1/conversations/:id": () => ({ body: { priority: "high" } }),
  "GET /v1/conversations/search": () => ({ query: "q=hello" }),
  "POST /v1/conversations/:id/messages": () => ({ body: { body: "Hello" } }),
  "POST /v1/conversations/:id/notes": () => ({ body: { body: "Calls at nine" } }),
  "PUT /v1/conversations/:id/labels": () => ({ body: { labels: ["new"] } }),
  "POST /v1/conversations/:id/assign": () => ({ body: { assignee: { type: "human", id: "kim" } } }),
  "POST /v1/conversations/:id/handoff": () => ({ body: { reason: "asked for it" } }),
  "POST /v1/messages": () => ({ body: { to: "+15005550001", body: "Hello" } }),
  "POST /v1/messages/preview": () => ({ body: { to: "+15005550001", body: "Hello" } }),
  "POST /v1/messages/batch": () => ({
    body: { messages: [{ to: "+15005550001", body: "Hello" }] },
  }),
  "POST /v1/messages/:id/cancel": ({ scheduled }) => ({ ids: { messages: scheduled } }),
  "PATCH /v1/messages/:id": ({ scheduled }) => ({
    body: { body: "Changed" },
    ids: { messages: scheduled },
  }),
  "POST /v1/webhooks": () => ({ body: { url: "https://example.com/other", events: ["*"] } }),
  "PATCH /v1/webhooks/:id": () => ({ body: { description: "Changed" } }),
  "POST /v1/webhooks/:id/recover": () => ({ body: { since: "2026-01-01T00:00:00Z" } }),
  "POST /v1/agents": () => ({ body: { name: "Eve", channels: ["sms"] } }),
  "PATCH /v1/agents/:id": () => ({ body: { name: "Eve" } }),
  "POST /v1/agents/:id/trigger": ({ ids }) => ({
    body: { contact_id: ids["contacts"], playbook_id: ids["playbooks"] },
  }),
  "POST /v1/agents/:id/runs/:run_id/approve": () => ({ body: { decision: "deny" } }),
  "POST /v1/playbooks": () => ({
    body: { name: "Bye", steps: [{ id: "bye", type: "send", text: "Bye!" }] },
  }),
  "PATCH /v1/playbooks/:id": () => ({ body: { description: "Changed" } }),
  "POST /v1/webchat/sessions/:id/messages": () => ({ body: { body: "Hello" } }),
  "POST /v1/webchat/sessions/:id/marks": ({ chat_message }) => ({
    body: { message_id: chat_message, mark: "read" },
  }),
  "POST /v1/conversations/:id/typing": ({ chat }) => ({ ids: { conversations: chat } }),
  "POST /v1/sandbox/inbound": () => ({ body: { from: "+15005550001", body: "Hello" } }),
  "POST /v1/sandbox/messages/:id/receipts": () => ({
    body: { receipts: [{ status: "delivered" }] },
  }),
  "POST /v1/sandbox/events": () => ({ body: { type: "message.sent" } }),
};

/** A request of the owner. */
export interface OwnRequest extends TestRequest {
  readonly method: string;
  readonly key: string;
  readonly body?: Body;
}

/**
 * The request of a route as its owner sends it. `ids` replaces path parameters.
 * @throws Error when nothing makes the id of a path parameter
 */
export function requestOf(
  route: ApiRoute,
  own: Owner,
  ids: Readonly<Record<string, string>> = {},
): OwnRequest {
  const example = examples[nameOf(route)]?.(own) ?? {};
  const known = { ...own.ids, ...example.ids, ...ids };
  const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => {
    const id = known[nounOf(route, name)];
    if (id !== undefined) return id;
    throw new Error(
      `Nothing makes the parameter ${nounOf(route, name)} of ${nameOf(route)}. ` +
        "Add it to newOwner in test/security/owner.ts.",
    );
  });
  const { query, body } = example;
  const hasBody = route.method !== "GET" && isGuarded(route);
  return {
    method: route.method,
    path: query === undefined ? path : `${path}?${query}`,
    key: "visitor" in route ? own.token : own.secret,
    ...(hasBody ? { body: body ?? {} } : {}),
  };
}

/** The name of a path parameter in `Owner.ids`. */
export function nounOf({ path }: Pick<ApiRoute, "path">, parameter: string): string {
  return parameter === "id" ? (path.split("/")[2] ?? "") : parameter;
}

/**
 * Throws if the owner's example was not accepted.
 * @throws Error that says what to do
 */
export function mustSucceed(route: ApiRoute, answer: ApiResponse): void {
  if (answer.status < 300) return;
  throw new Error(
    `${nameOf(route)} answered ${answer.status} to its example. Add or correct it in ` +
      `test/security/examples.ts, so that the security suite attacks this route: ${textOf(answer)}`,
  );
}

/** The least scopes of a key for a route. A route without scopes takes any key. */
export function leastScopes(route: Scoped): KeyScope[] {
  return route.scopes.length === 0 ? ["events:read"] : [...route.scopes];
}

/** The routes whose example is not needed any more. */
export const leftOver: readonly string[] = Object.keys(examples).filter(
  (name) => !allRoutes.some((route) => nameOf(route) === name),
);
