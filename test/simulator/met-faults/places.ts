/**
 * Which fault can happen where. Collections and operations come from the engine. A new fault or job
 * does not compile until it is listed here. Each of them adds cells to the table. Each cell is
 * reported as never having happened, until it happens in a history, or until a reason below says
 * why it cannot.
 */
import type { Fault } from "../../../adapters/testing/index.ts";
import { defaultLimits } from "../../../src/kernel/limits.ts";
import { apiRoutes, schema } from "../../../src/modules.ts";
import type { ModelTask } from "../../../src/ports/agent-model.ts";
import type { JobKind } from "../../../src/queue/jobs/job-kinds.ts";
import { actionNames } from "../action-backend.ts";
import type { HostFault } from "../faults.ts";
import { recordedCallees } from "../recorded-calls.ts";
import type { WebhookFault } from "../webhook-receivers.ts";

/** What the simulator itself does to processes. */
export type ProcessFault =
  "crash" | "deployment" | "cutOffStorage" | "cutOffCarrier" | "cutOffInternet" | "clockSet";

export type AnyFault = Fault | HostFault | WebhookFault | ProcessFault;

/** The kinds of things that a fault can happen to. */
export const places = {
  commit: "Commits, by the collections that they write",
  read: "Reads, by the collections that they read",
  job: "Commits that write a job, by its kind",
  call: "Commits that record a call before it is made, by what is called",
  operation: "Operations that are under way in the engine that the fault happens to",
  engine: "Engines",
  carrier: "Calls to the carrier and from it",
  webhook: "Requests to webhooks",
  host: "Calls of the host application's code",
} as const;
export type Place = keyof typeof places;

const commits = ["commit", "job", "call", "operation"] as const;
const reads = ["read", "operation"] as const;
const carrier = ["carrier"] as const;
const host = ["host"] as const;
const webhook = ["webhook"] as const;
const processes = ["engine", "operation"] as const;
const stops = ["engine", "call", "operation"] as const;

/** Where each fault can happen. By its nature, it cannot happen anywhere else. */
export const placesOf: Readonly<Record<AnyFault, readonly Place[]>> = {
  commitConflicts: commits,
  commitFailsBefore: commits,
  commitFailsAfter: commits,
  commitSlow: commits,
  commitStalls: commits,
  crashBeforeCommit: commits,
  crashAfterCommit: commits,
  readFails: reads,
  readSlow: reads,
  connectionLost: ["commit", "read", "job", "call", "operation"],
  notificationLost: ["engine"],
  clockSkewed: ["engine"],
  crashBeforeSend: carrier,
  crashAfterSend: carrier,
  sendFailsBefore: carrier,
  sendFailsAfter: carrier,
  sendSlow: carrier,
  sendAnswerSlow: carrier,
  carrierThrottles: carrier,
  carrierRefuses: carrier,
  lookupFails: carrier,
  lookupUnknown: carrier,
  lookupLags: carrier,
  receiptLost: carrier,
  reportTwice: carrier,
  receiptEarly: carrier,
  crashBeforePost: webhook,
  crashAfterPost: webhook,
  postFailsBefore: webhook,
  postFailsAfter: webhook,
  postSlow: webhook,
  receiverFails: webhook,
  receiverThrottles: webhook,
  receiverHangs: webhook,
  crash: processes,
  deployment: stops,
  cutOffStorage: processes,
  cutOffCarrier: processes,
  cutOffInternet: processes,
  clockSet: ["engine"],
  policyDenies: host,
  policyDefers: host,
  policyFails: host,
  analyzerFails: host,
  analyzerSlow: host,
  crashAtModel: host,
  modelFails: host,
  modelAnswerLost: host,
  modelSlow: host,
  modelHostile: host,
  crashAtAction: host,
  actionFailsBefore: host,
  actionFailsAfter: host,
  actionSlow: host,
  consumerFails: host,
  consumerSlow: host,
  visitorDisconnects: ["operation"],
  clientImpatient: ["operation"],
  serverError: webhook,
  unavailable: webhook,
  tooManyRequests: webhook,
  redirected: webhook,
  slowResponse: webhook,
  noResponse: webhook,
  connectionReset: webhook,
  connectionRefused: webhook,
  gone: webhook,
};

const modelTasks: readonly ModelTask["type"][] = ["answer", "extract", "instruct"];

/** The calls that a fault of the carrier or of the host application can happen to. */
const callsOf: Readonly<Partial<Record<AnyFault, readonly string[]>>> = {
  notificationLost: ["notification"],
  clockSkewed: ["start"],
  crashBeforeSend: ["send"],
  crashAfterSend: ["send"],
  sendFailsBefore: ["send"],
  sendFailsAfter: ["send"],
  sendSlow: ["send"],
  sendAnswerSlow: ["send"],
  carrierThrottles: ["send"],
  carrierRefuses: ["send"],
  lookupFails: ["look-up"],
  lookupUnknown: ["look-up"],
  lookupLags: ["look-up"],
  receiptLost: ["receipt"],
  reportTwice: ["receipt", "text"],
  receiptEarly: ["receipt"],
  policyDenies: ["policy"],
  policyDefers: ["policy"],
  policyFails: ["policy"],
  analyzerFails: ["sentiment"],
  analyzerSlow: ["sentiment"],
  crashAtModel: ["model"],
  modelFails: ["model"],
  modelAnswerLost: ["model"],
  modelSlow: ["model"],
  modelHostile: modelTasks,
  crashAtAction: actionNames,
  actionFailsBefore: actionNames,
  actionFailsAfter: actionNames,
  actionSlow: actionNames,
  consumerFails: ["consumer"],
  consumerSlow: ["consumer"],
  visitorDisconnects: ["webchat.stream"],
};

const jobKinds: Readonly<Record<JobKind, true>> = {
  send: true,
  release: true,
  throttle: true,
  "follow-up": true,
  "early-receipt": true,
  consume: true,
  "remove-consumer": true,
  deliver: true,
  recover: true,
  discard: true,
  score: true,
  turn: true,
  "queue-timeout": true,
  wake: true,
  merge: true,
  erase: true,
  "erase-address": true,
  redact: true,
  reap: true,
};

interface Operation {
  readonly kind: string;
  readonly name: string;
}

const operations: readonly Operation[] = apiRoutes(defaultLimits).flatMap(({ operation }) =>
  "name" in operation ? [{ kind: operation.kind, name: operation.name }] : [],
);

/** The names of all operations. */
export const operationNames: readonly string[] = operations.map(({ name }) => name);

const rowsOf: Readonly<Record<Place, readonly string[]>> = {
  commit: schema.collections.map(({ name }) => name),
  read: schema.collections.map(({ name }) => name),
  job: Object.keys(jobKinds),
  call: recordedCallees,
  operation: operationNames,
  engine: ["start", "notification", "process"],
  carrier: ["send", "look-up", "receipt", "text"],
  webhook: ["post"],
  host: ["policy", "sentiment", "model", ...modelTasks, ...actionNames, "consumer"],
};

/** Rows and cells whose faults cannot happen in the simulated histories, and why. */
const noCells: Readonly<Record<string, string>> = {
  ...reason("The histories run in live mode, which has no sandbox.", [
    "operation|sandbox.numbers",
    "operation|sandbox.inbound",
    "operation|sandbox.receipts",
    "operation|sandbox.event",
    "operation|sandbox.seed",
    "operation|sandbox.reset",
  ]),
  ...reason("The scripted carrier delivers its reports without HTTP.", [
    "operation|transports.callback",
  ]),
  ...reason("No history removes a consumer.", ["job|remove-consumer"]),
  ...reason("It changes nothing, and clients wait for it only over HTTP.", [
    "operation|health.get",
    "operation|health.live",
    "operation|openapi.get",
  ]),
  ...reason("A visitor's browser is never impatient: it always waits 30 s for an answer.", [
    "operation|webchat.sendAsVisitor|clientImpatient",
    "operation|webchat.mark|clientImpatient",
    "operation|webchat.stream|clientImpatient",
    "operation|webchat.typeAsVisitor|clientImpatient",
  ]),
};

function reason(why: string, cells: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(cells.map((cell) => [cell, why]));
}

/** A cell of the table. */
export interface Cell {
  readonly place: Place;
  readonly row: string;
  readonly fault: AnyFault;
  /** Why the fault cannot happen there. Undefined if it can. */
  readonly never: string | undefined;
}

/** Whether a fault can happen there. */
export function canOccur(place: Place, row: string, fault: AnyFault): boolean {
  return reasonAgainst(place, row, fault) === undefined;
}

function reasonAgainst(place: Place, row: string, fault: AnyFault): string | undefined {
  const calls = callsOf[fault];
  if (calls !== undefined && !calls.includes(row)) return `${fault} happens to ${calls.join(", ")}`;
  if (processes.some((each) => each === place) && isProcessFault(fault) && place === "engine") {
    return row === "process" ? undefined : `${fault} happens to the process`;
  }
  if (place === "operation") {
    const kind = operations.find(({ name }) => name === row)?.kind;
    if (!isWriting(kind) && isOfCommits(fault)) return `${row} commits nothing`;
  }
  return noCells[`${place}|${row}`] ?? noCells[`${place}|${row}|${fault}`];
}

function isWriting(kind: string | undefined): boolean {
  return kind === "command" || kind === "procedure";
}

function isOfCommits(fault: AnyFault): boolean {
  return placesOf[fault] === commits;
}

function isProcessFault(fault: AnyFault): boolean {
  return [processes, stops].some((each) => each === placesOf[fault]) || fault === "clockSet";
}

/** The faults that can happen to an operation. */
export function faultsOf(operation: string): readonly AnyFault[] {
  return (Object.keys(placesOf) as AnyFault[]).filter(
    (fault) => placesOf[fault].includes("operation") && canOccur("operation", operation, fault),
  );
}

/** All cells of the table, in order. */
export function allCells(): readonly Cell[] {
  const faults = Object.keys(placesOf) as AnyFault[];
  return (Object.keys(places) as Place[]).flatMap((place) =>
    rowsOf[place].flatMap((row) =>
      faults
        .filter((fault) => placesOf[fault].includes(place))
        .map((fault) => ({ place, row, fault, never: reasonAgainst(place, row, fault) })),
    ),
  );
}
