export { sandboxModule } from "./descriptor.ts";
export type {
  SandboxEvent,
  SandboxInbound,
  SandboxNumbers,
  SandboxReceipts,
  SandboxResetResult,
  SandboxSeedResult,
} from "./types.ts";
