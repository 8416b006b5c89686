/** Tools for tests of applications and adapters. */
export {
  type AcceptedOutcome,
  type AttemptAtCarrier,
  type CarrierCall,
  type CarrierOutcome,
  type CarrierRule,
  type CarrierScript,
  type IssuedReceipt,
  type LostAnswerOutcome,
  type RefusedOutcome,
  type ScriptedOutcome,
  type ScriptedReceipt,
  type ThrottledOutcome,
} from "./carrier/script.ts";
export {
  scriptedCarrier,
  type ScriptedCarrier,
  type ScriptedCarrierOptions,
  type ScriptedText,
} from "./carrier/scripted-carrier.ts";
export {
  type ModelAnswerIsLost,
  type ModelAnswers,
  type ModelFails,
  type ModelHangs,
  type ModelOutcome,
  type ModelRequest,
  type ModelRule,
  type ModelScript,
  type ScriptedAnswer,
  type TurnAtModel,
} from "./model/script.ts";
export {
  scriptedModel,
  type ScriptedModel,
  type ScriptedModelOptions,
} from "./model/scripted-model.ts";
export {
  type AnsweredRequest,
  type HangingReceiver,
  type LostResponse,
  type ReceiverOutcome,
  type ReceiverRule,
  type ReceiverScript,
  type RequestAtReceiver,
  type ScriptedResponse,
  type UnreachableReceiver,
  type WebhookRequest,
} from "./receiver/script.ts";
export {
  scriptedReceiver,
  type ScriptedReceiver,
  type ScriptedReceiverOptions,
  type TrustedWebhook,
} from "./receiver/scripted-receiver.ts";
export { Dice } from "./simulated/dice.ts";
export { seededRandom } from "./simulated/seeded-random.ts";
export { simulated, type Simulated, type SimulationOptions } from "./simulated/simulated.ts";
export { type Time, virtualClock, type VirtualClock } from "./simulated/virtual-clock.ts";
export { modelConformance, type ModelConformance } from "./conformance/model/index.ts";
export type { ModelBehavior, ModelNeed, ModelUnderTest } from "./conformance/model/fixture.ts";
export { mountConformance, type MountConformance } from "./conformance/mount/index.ts";
export type { MountNeed, MountUnderTest } from "./conformance/mount/fixture.ts";
export { storageConformance, type StorageUnderTest } from "./conformance/storage/index.ts";
export type { TestRunner } from "./conformance/suite.ts";
export { transportConformance, type TransportConformance } from "./conformance/transport/index.ts";
export type {
  AcceptedMessage,
  CarrierBehavior,
  CarrierCallbacks,
  ReceivedMessage,
  TransportNeed,
  TransportUnderTest,
} from "./conformance/transport/fixture.ts";
export type {
  CallOptions,
  CallOutcome,
  DoneCall,
  HostCode,
  RefusedCall,
  UnknownCall,
  UpEngine,
} from "./world/calls.ts";
export type { EnginePorts, MakeEngine, WorldTransport } from "./world/engine-process.ts";
export type { EngineRun, Outage } from "./world/engine-run.ts";
export {
  type Fault,
  faultNames,
  type FaultPlace,
  type FaultRates,
  type MetFault,
} from "./world/faults.ts";
export type { PortCall } from "./world/ports/port-calls.ts";
export type { LogLine, WorldObserver } from "./world/observer.ts";
export type { Remote } from "./world/run-context.ts";
export type { Story, StoryEntry, StoryOptions } from "./world/story.ts";
export { Violation } from "./world/violation.ts";
export type {
  CrashOptions,
  Finding,
  Law,
  LawResult,
  SettleOptions,
  World,
  WorldOptions,
} from "./world/types.ts";
export { world } from "./world/world.ts";
export { arbitraries, type Arbitraries } from "./fast-check/arbitraries.ts";
export {
  command,
  type WorldCommandOptions,
  type Commands,
  type WithCarrier,
  type WithWorld,
  type WorldCommand,
} from "./fast-check/command.ts";
export { commands } from "./fast-check/commands.ts";
export { report, type RunDetails } from "./fast-check/report.ts";
export type { AnyArbitrary, Arbitrary, Bounds, FastCheck, Lengths } from "./fast-check/types.ts";
export { type EngineLaw, invariants, type Invariants } from "./invariants/index.ts";
