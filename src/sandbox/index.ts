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
