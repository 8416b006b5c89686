import { messageSchema } from "../messages/index.ts";
import {
  command,
  commandByIdAndInput,
  method,
  type ApiRoute,
  type CommandOptions,
  type Module,
} from "../operations/index.ts";
import { anyEventSchema, deliverySchema } from "../webhooks/index.ts";
import { resetSandbox } from "./reset.ts";
import { seedSandbox } from "./seed.ts";
import {
  createSandboxEvent,
  listSandboxNumbers,
  receiveSandboxMessage,
  receiveSandboxReceipts,
  testWebhook,
} from "./simulate.ts";
import {
  sandboxNumbersSchema,
  sandboxResetResultSchema,
  sandboxSeedResultSchema,
  type SandboxReceipt,
} from "./types.ts";

/** All routes have one scope, the reading one too. */
const sandbox = { tag: "Sandbox", scopes: ["sandbox:write"] } as const;

const sandboxRoutes: readonly ApiRoute[] = [
  {
    ...sandbox,
    method: "GET",
    path: "/v1/sandbox/numbers",
    operation: listSandboxNumbers,
    summary: "List the test numbers",
    description: "What happens to a message depends on the number that it is sent to.",
    response: sandboxNumbersSchema,
  },
  {
    ...sandbox,
    method: "POST",
    path: "/v1/sandbox/inbound",
    operation: receiveSandboxMessage,
    summary: "Simulate a message from a contact",
    description:
      "The message arrives as one from a carrier does: it creates the contact and the " +
      "conversation if they do not exist, keywords such as STOP count, and agents answer it.",
    response: messageSchema,
    example: { from: "+15005550001", body: "Are you open today?" },
  },
  {
    ...sandbox,
    method: "POST",
    path: "/v1/sandbox/messages/:id/receipts",
    operation: receiveSandboxReceipts,
    summary: "Simulate a carrier's receipts",
    description:
      "Receipts are applied in the given order. Any order and any repetition is allowed.",
    response: messageSchema,
    example: { receipts: [{ status: "delivered" }, { status: "read" }] },
  },
  {
    ...sandbox,
    method: "POST",
    path: "/v1/sandbox/events",
    operation: createSandboxEvent,
    summary: "Simulate an event",
    description:
      "Publishes an event of any type with sample data to handlers, consumers, streams and " +
      "webhooks.",
    response: anyEventSchema,
    example: { type: "message.received" },
  },
  {
    ...sandbox,
    method: "POST",
    path: "/v1/sandbox/seed",
    operation: seedSandbox,
    summary: "Create sample data",
    description:
      "Creates sample contacts and conversations on every channel. Also creates an agent if the " +
      "engine has the option `agents` and the sandbox has no agent. A repeated call adds nothing.",
    response: sandboxSeedResultSchema,
  },
  {
    ...sandbox,
    method: "POST",
    path: "/v1/sandbox/reset",
    operation: resetSandbox,
    summary: "Reset the sandbox",
    description:
      "Removes the account's messages, contacts, conversations, agents, playbooks and events in " +
      "the sandbox. API keys, senders, webhooks, operators and usage counts stay, with the " +
      "idempotency keys of the requests that changed them. Other idempotency keys can be used " +
      "again.",
    response: sandboxResetResultSchema,
  },
  {
    tag: "Webhooks",
    scopes: ["webhooks:write"],
    method: "POST",
    path: "/v1/webhooks/:id/test",
    operation: testWebhook,
    summary: "Send a test event",
    description:
      "Makes one attempt with sample data now, whatever the webhook's status and ordering. Other " +
      "subscribers do not receive the event.",
    response: deliverySchema,
    example: { type: "message.received" },
  },
];

const sandboxHandles = {
  sandbox: {
    numbers: method(
      ({ read }) =>
        () =>
          read(listSandboxNumbers, {}),
    ),
    inbound: command(receiveSandboxMessage),
    receipts: method(
      ({ change }) =>
        (id: string, receipts: readonly SandboxReceipt[], options?: CommandOptions) =>
          change(receiveSandboxReceipts, { id, receipts }, options),
    ),
    event: command(createSandboxEvent),
    seed: method(
      ({ change }) =>
        (options?: CommandOptions) =>
          change(seedSandbox, {}, options),
    ),
    reset: method(
      ({ change }) =>
        (options?: CommandOptions) =>
          change(resetSandbox, {}, options),
    ),
  },
  webhooks: {
    test: commandByIdAndInput(testWebhook),
  },
};

export const sandboxModule: Module<object, typeof sandboxHandles> = {
  tags: [
    {
      name: "Sandbox",
      description: "Simulated contacts, carriers and events. Requires a sandbox key.",
    },
  ],
  routes: sandboxRoutes,
  handles: sandboxHandles,
};
