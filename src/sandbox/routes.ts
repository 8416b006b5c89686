import { deliverySchema, eventSchema } from "../webhooks/index.ts";
import { testWebhook } from "./test-webhook.ts";
import { createSandboxEvent } from "./create-event.ts";
import { receiveSandboxMessage } from "./receive-message.ts";
import { receiveSandboxReceipts } from "./receive-receipts.ts";
import { resetSandbox } from "./reset.ts";
import { seedSandbox } from "./seed.ts";
import { messageSchema } from "../messages/index.ts";
import { listSandboxNumbers } from "./list-numbers.ts";
import {
  sandboxNumbersSchema,
  sandboxResetResultSchema,
  sandboxSeedResultSchema,
} from "./types.ts";
import type { Route } from "../operations/index.ts";

const write = { tag: "Sandbox", scopes: ["sandbox:write"] } as const;

export const sandboxRoutes: readonly Route[] = [
  {
    ...write,
    method: "GET",
    path: "/v1/sandbox/numbers",
    operation: listSandboxNumbers,
    summary: "List the test numbers",
    response: sandboxNumbersSchema,
  },
  {
    ...write,
    method: "POST",
    path: "/v1/sandbox/inbound",
    operation: receiveSandboxMessage,
    summary: "Simulate a message from a contact",
    response: messageSchema,
  },
  {
    ...write,
    method: "POST",
    path: "/v1/sandbox/messages/:id/receipts",
    operation: receiveSandboxReceipts,
    summary: "Simulate a carrier's receipts",
    description: "Applied in the order given; any order and any repetition is allowed.",
    response: messageSchema,
  },
  {
    ...write,
    method: "POST",
    path: "/v1/sandbox/events",
    operation: createSandboxEvent,
    summary: "Simulate an event",
    description:
      "Of any type, with sample data: handlers, streams and webhooks are told of it as of others.",
    response: eventSchema,
  },
  {
    ...write,
    method: "POST",
    path: "/v1/sandbox/seed",
    operation: seedSandbox,
    summary: "Make sample data",
    response: sandboxSeedResultSchema,
  },
  {
    ...write,
    method: "POST",
    path: "/v1/sandbox/reset",
    operation: resetSandbox,
    summary: "Start over",
    description: "Removes what the account has in the sandbox, but its keys, senders and webhooks.",
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
      "One attempt with sample data, whatever the webhook's status. Nobody else is told of it.",
    response: deliverySchema,
  },
];
