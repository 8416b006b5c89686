export { createSandboxEvent } from "./create-event.ts";
export { sandboxModule } from "./descriptor.ts";
export { listSandboxNumbers } from "./list-numbers.ts";
export { receiveSandboxMessage } from "./receive-message.ts";
export { receiveSandboxReceipts } from "./receive-receipts.ts";
export { resetSandbox } from "./reset.ts";
export { seedSandbox } from "./seed.ts";
export { testWebhook } from "./test-webhook.ts";
export type {
  SandboxEvent,
  SandboxInbound,
  SandboxNumbers,
  SandboxReceipts,
  SandboxResetResult,
  SandboxSeedResult,
} from "./types.ts";
