/** The log of events without an engine, and processes that stream it. */
import { createSecretKey } from "node:crypto";
import { onTestFinished } from "vitest";
import { english } from "../../adapters/language/index.ts";
import { simulated, type VirtualClock } from "../../adapters/testing/index.ts";
import { LiveStreams } from "../../src/api/streams/live-streams.ts";
import { events, type EventRow } from "../../src/events/rows.ts";
import { eventStream, type StreamQuery } from "../../src/events/streams/event-stream.ts";
import type { EventEnvelope, EventType } from "../../src/events/types.ts";
import { idSource, type Scope } from "../../src/kernel/ids.ts";
import { defaultLimits } from "../../src/kernel/limits.ts";
import { schema } from "../../src/modules.ts";
import { standardConsent } from "../../src/operations/consent-options.ts";
import type { StreamEvent, StreamSources } from "../../src/operations/event-stream.ts";
import { noVerdicts } from "../../src/operations/execution/host-policies.ts";
import type { Call } from "../../src/operations/operation.ts";
import { standardHistoryChunks } from "../../src/operations/runtime.ts";
import { silent } from "../../src/ports/logger.ts";
import type { StoragePort, Write } from "../../src/ports/storage.ts";
import { Store } from "../../src/store/store.ts";
import { over } from "../support/over.ts";
import type { StorageCase } from "../support/storage/storages.ts";

export const quiet: Scope = { account_id: "acct_quiet", mode: "live" };
export const busy: Scope = { account_id: "acct_busy", mode: "live" };

let made = 0;
/** A new event of a scope. */
export function event(scope: Scope, type: EventType, conversation: string | null = null): EventRow {
  const id = `evt_${String(++made).padStart(26, "0")}` as const;
  return {
    ...scope,
    id,
    position: 0,
    type,
    conversation_id: conversation as EventRow["conversation_id"],
    contact_id: null,
    data: {},
    created_at: 0,
    rewrites: 0,
  };
}

export async function opened(open: StorageCase["open"]): Promise<StoragePort> {
  const port = open().connect();
  onTestFinished(() => port.close());
  await port.open(schema);
  return port;
}

/** Commits events as another process does. Returns the writes. */
export async function commit(port: StoragePort, rows: readonly EventRow[]): Promise<Write[]> {
  const writes = rows.map((row): Write => ({
    kind: "insert",
    collection: events,
    row: { ...row, version: 1 },
  }));
  await port.begin().commit(writes);
  return writes;
}

/** A process with event streams on a storage. */
export interface StreamProcess {
  readonly clock: VirtualClock;
  readonly streams: LiveStreams;
  /** The rows of each read of the log. */
  readonly read: EventRow[][];
  /** How often a stream has yielded to the event loop. */
  readonly yields: () => number;
  /** Opens a stream. `full` is called when it is too slow. */
  open(
    input: StreamQuery,
    options?: { readonly scope?: Scope; readonly full?: () => void; readonly left?: AbortSignal },
  ): Promise<AsyncIterable<StreamEvent<EventEnvelope>>>;
}

export function streamProcess(port: StoragePort): StreamProcess {
  const { clock, random } = simulated();
  const ended = new AbortController();
  const read: EventRow[][] = [];
  let yields = 0;
  const reader = over(port.reader, {
    async range(range) {
      const rows = await port.reader.range(range);
      read.push(rows as readonly object[] as EventRow[]);
      return rows;
    },
  });
  const store = new Store({ port: over(port, { reader }), schema, clock, random, logger: silent });
  const streams = new LiveStreams({ store, clock, logger: silent });
  onTestFinished(() => {
    ended.abort();
    streams.close();
  });
  const secret = createSecretKey(new Uint8Array(32));
  const services = {
    drawId: idSource(clock, random),
    random,
    limits: defaultLimits,
    transports: [],
    factsByTransport: new Map(),
    routes: [],
    contactActivity: { of: () => Promise.resolve([]), ofAll: () => Promise.resolve([]) },
    hookHandlers: [],
    setUpSandbox: () => {},
    isInProgress: () => Promise.resolve(false),
    scoresSentiment: false,
    eventsKeptMs: Infinity,
    webchatSessionMs: 0,
    reopenMs: 0,
    secret,
    consent: standardConsent,
    quietHours: null,
    language: english(),
    timeZone: "UTC",
    destinations: undefined,
    hasAgents: false,
    historyChunks: standardHistoryChunks,
    actions: new Map(),
  };
  const callOf = (scope: Scope): Call => ({
    scope,
    caller: { type: "host" },
    request_id: "req_1",
    idempotency_key: null,
    services,
    hostVerdicts: noVerdicts,
  });
  return {
    clock,
    streams,
    read,
    yields: () => yields,
    async open(input, { scope = quiet, full = () => {}, left = ended.signal } = {}) {
      const sources: StreamSources = {
        ...streams.sources({ scope, caller: { type: "host" }, over: left, full }),
        reads: store.reads(scope),
        now: () => clock.now(),
        yieldToEventLoop: () => (yields++, port.yieldToEventLoop()),
      };
      return eventStream.open(sources, input, callOf(scope));
    },
  };
}
