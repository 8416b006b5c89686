import { sandboxRoutes } from "./routes.ts";
import {
  command,
  commandByIdAndInput,
  type CommandOptions,
  method,
  type Module,
} from "../operations/index.ts";
import { resetSandbox } from "./reset.ts";
import { seedSandbox } from "./seed.ts";
import {
  createSandboxEvent,
  listSandboxNumbers,
  receiveSandboxMessage,
  receiveSandboxReceipts,
  testWebhook,
} from "./simulate.ts";
import type { SandboxReceipts } from "./types.ts";

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
        (id: string, receipts: SandboxReceipts["receipts"], options?: CommandOptions) =>
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
