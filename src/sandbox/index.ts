export { appointment, assistant, complaint, openingHours } from "./seed-agent.ts";
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
