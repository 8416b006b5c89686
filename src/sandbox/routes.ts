import { deliverySchema, anyEventSchema } from "../webhooks/index.ts";
import {
  testWebhook,
  createSandboxEvent,
  receiveSandboxMessage,
  receiveSandboxReceipts,
  listSandboxNumbers,
} from "./simulate.ts";
import { resetSandbox } from "./reset.ts";
import { seedSandbox } from "./seed.ts";
import { messageSchema } from "../messages/index.ts";
import {
  sandboxNumbersSchema,
  sandboxResetResultSchema,
  sandboxSeedResultSchema,
} from "./types.ts";
import type { ApiRoute } from "../operations/index.ts";

/** All routes have one scope, the reading one too. */
const sandbox = { tag: "Sandbox", scopes: ["sandbox:write"] } as const;

export const sandboxRoutes: readonly ApiRoute[] = [
  {
    ...sandbox,
    method: "GET",
    path: "/v1/sandbox/numbers",
    operation: listSandboxNumbers,
    summary: "List the test numbers",
    response: sandboxNumbersSchema,
  },
  {
    ...sandbox,
    method: "POST",
    path: "/v1/sandbox/inbound",
    operation: receiveSandboxMessage,
    summary: "Simulate a message from a contact",
    response: messageSchema,
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
  },
  {
    ...sandbox,
    method: "POST",
    path: "/v1/sandbox/seed",
    operation: seedSandbox,
    summary: "Create sample data",
    response: sandboxSeedResultSchema,
  },
  {
    ...sandbox,
    method: "POST",
    path: "/v1/sandbox/reset",
    operation: resetSandbox,
    summary: "Reset the sandbox",
    description:
      "Removes the account's messages, contacts, conversations and events in the sandbox. Keys, " +
      "senders, webhooks, agents and playbooks stay.",
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
      "Makes one attempt with sample data, whatever the webhook's status. Other subscribers do " +
      "not receive the event.",
    response: deliverySchema,
  },
];
