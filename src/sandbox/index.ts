export { sampleData } from "./event-samples.ts";
export { appointment, assistant, complaint, openingHours } from "./sample-agent.ts";
export type {
  SandboxEvent,
  SandboxInbound,
  SandboxNumber,
  SandboxNumbers,
  SandboxReceipt,
  SandboxResetResult,
  SandboxSeedResult,
} from "./types.ts";
