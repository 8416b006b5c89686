export {
  createSandboxEvent,
  listSandboxNumbers,
  receiveSandboxMessage,
  receiveSandboxReceipts,
  testWebhook,
} from "./simulate.ts";
export { sandboxModule } from "./descriptor.ts";
export { resetSandbox } from "./reset.ts";
export { seedSandbox } from "./seed.ts";
export type {
  SandboxEvent,
  SandboxInbound,
  SandboxNumber,
  SandboxNumbers,
  SandboxReceipt,
  SandboxReceipts,
  SandboxResetResult,
  SandboxSeedResult,
} from "./types.ts";
