/** An account that has one of each resource, made over HTTP as its owner would. */
import { z } from "zod";
import { action } from "../../src/host/actions.ts";
import { ulidOf } from "../../src/kernel/ids.ts";
import type { ApiRoute } from "../../src/operations/api-route.ts";
import { call, jsonOf, textOf, type TestRequest } from "../api/call.ts";
import type { Tenant, World } from "../api/world.ts";

/** What an account has: the ids and other names by which its resources are reached. */
export interface Owner extends Tenant {
  /**
   * A value for each path parameter. `:id` has one for each noun, which is the second segment of
   * the path. The other parameters have unique names.
   */
  readonly ids: Readonly<Record<string, string>>;
  /** The token of its webchat session. */
  readonly token: string;
  /** A second contact. */
  readonly other_contact: string;
  /** A message that is scheduled, so that it can be edited. */
  readonly scheduled: string;
  readonly return_key: string;
  /** The address of a webchat inbox that no other account has. */
  readonly inbox: string;
  /** The address of a sender that no other account has. */
  readonly sender: string;
  /** Its conversation with the visitor. */
  readonly chat: string;
  /** A message to the visitor. */
  readonly chat_message: string;
  /** All secrets that it was shown once. */
  readonly secrets: readonly string[];
}

const later = "2026-01-02T00:00:00Z";

/** An action that waits for a person, so that there is a run to approve. */
export const refund = action({
  name: "refund",
  description: "Pays an order back",
  input: z.object({}),
  risk: "approval",
  idempotent: true,
  execute: () => ({ done: true }),
});

/** The part of a world that makes an owner: the API, accounts, and the work in the background. */
export type Making = Pick<World, "engine" | "tenant"> & {
  /** Finishes the work in the background. */
  readonly settle: () => Promise<void>;
};

/** Makes an account with one of each resource. A new noun of the API needs a line here. */
export async function newOwner(there: Making): Promise<Owner> {
  const own = await there.tenant("sandbox");
  const ask = async (request: TestRequest): Promise<Record<string, unknown>> => {
    const answer = await call(there.engine.api, { key: own.secret, ...request });
    if (answer.status < 300) return answer.body === null ? {} : jsonOf(answer);
    throw new Error(
      `test/security/owner.ts: ${request.method ?? "GET"} ${request.path} answered ` +
        `${answer.status}: ${textOf(answer)}`,
    );
  };
  const make = (path: string, body: object) => ask({ method: "POST", path, body });
  const idOf = async (made: Promise<Record<string, unknown>>): Promise<string> =>
    String((await made)["id"]);
  const first = async (path: string): Promise<string> => {
    const { data } = (await ask({ path })) as { data: { id: string }[] };
    if (data[0] === undefined) throw new Error(`test/security/owner.ts: nothing at ${path}`);
    return data[0].id;
  };

  const hook = await make("/v1/webhooks", { url: "https://example.com/hooks", events: ["*"] });
  const webhooks = String(hook["id"]);
  const key = await make("/v1/api-keys", { name: "second", scopes: ["keys:manage"] });
  const ulid = ulidOf(own.scope.account_id);
  const [sender, inbox] = [`shop-${ulid}`, `desk-${ulid}`];
  await make("/v1/senders", { address: inbox, channels: ["webchat"], transport: "webchat" });
  const senders = await idOf(
    make("/v1/senders", { address: sender, channels: ["sms"], transport: "sandbox" }),
  );
  const messages = await idOf(make("/v1/messages", { to: "+15005550001", body: "Hello" }));
  const scheduled = await idOf(
    make("/v1/messages", { to: "+15005550001", body: "Later", send_at: later }),
  );
  const contacts = await first("/v1/contacts");
  const other_contact = await idOf(make("/v1/contacts", { phone: "+15005550002", name: "Bo" }));
  const observation_id = await idOf(
    make(`/v1/contacts/${contacts}/observations`, { content: "likes tea", kind: "taste" }),
  );
  const agents = await idOf(
    make("/v1/agents", {
      name: "Ada",
      channels: ["sms"],
      actions: [refund.name],
      // Nobody writes to this sender, so that the agent leaves the conversations alone.
      senders: [sender],
      enabled: true,
    }),
  );
  const playbooks = await idOf(
    make("/v1/playbooks", {
      name: "Greet",
      enabled: true,
      steps: [{ id: "greet", type: "send", text: "Hello!" }],
    }),
  );
  const run_id = await idOf(
    make(`/v1/agents/${agents}/trigger`, {
      contact_id: other_contact,
      action: refund.name,
      input: {},
    }),
  );
  const operators = `kim-${own.scope.account_id}`;
  await ask({ method: "PUT", path: `/v1/operators/${operators}`, body: { name: "Kim" } });
  const session = await make("/v1/webchat/sessions", {});
  const token = String(session["token"]);
  const said = `/v1/webchat/sessions/${String(session["id"])}/messages`;
  await ask({ method: "POST", path: said, key: token, body: { body: "Hello" } });
  const chat = await first("/v1/conversations?channel=webchat");
  const chat_message = await idOf(make(`/v1/conversations/${chat}/messages`, { body: "Hi" }));
  await there.settle();
  return {
    ...own,
    ids: {
      "api-keys": String(key["id"]),
      operators,
      contacts,
      observation_id,
      medium: "text",
      senders,
      conversations: await first(`/v1/conversations?contact_id=${contacts}`),
      messages,
      agents,
      run_id,
      playbooks,
      webchat: String(session["id"]),
      webhooks,
      delivery_id: await first(`/v1/webhooks/${webhooks}/deliveries`),
      events: await first("/v1/events"),
      sandbox: messages,
      name: "sandbox",
    },
    token,
    other_contact,
    scheduled,
    return_key: String(session["return_key"]),
    inbox,
    sender,
    chat,
    chat_message,
    secrets: [own.secret, String(hook["secret"]), String(key["secret"]), token].concat(
      String(session["return_key"]),
    ),
  };
}

/** A new owner for a visitor's route, because a session may make 20 requests in a second. */
export async function ownerFor(there: Making, route: ApiRoute, usual: Owner): Promise<Owner> {
  return "visitor" in route ? newOwner(there) : usual;
}
