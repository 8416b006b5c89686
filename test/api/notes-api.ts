/** A small API in memory with every kind of route, to test the handler and the HTTP adapters. */
import { once } from "node:events";
import { z } from "zod";
import { system } from "../../adapters/system/index.ts";
import type { Authenticated } from "../../src/accounts/keys/key-ring.ts";
import type { ApiBackend } from "../../src/api/backend.ts";
import { RequestHandler } from "../../src/api/handler.ts";
import type { ApiHandler } from "../../src/api/http.ts";
import { invalid, notFound, ReplayedError, TidingsError } from "../../src/kernel/errors.ts";
import { idSource, type KeyId, type Mode } from "../../src/kernel/ids.ts";
import { defaultLimits, type Limits } from "../../src/kernel/limits.ts";
import { problem } from "../../src/kernel/problem.ts";
import type {
  ApiRoute,
  Callback,
  PublicDocument,
  PublicOperation,
} from "../../src/operations/api-route.ts";
import type { KeyScope } from "../../src/operations/caller.ts";
import type { EventStream, StreamEvent, StreamSources } from "../../src/operations/event-stream.ts";
import type {
  Change,
  Command,
  Context,
  Outcome,
  Procedure,
  Query,
} from "../../src/operations/operation.ts";

export interface Note {
  readonly id: string;
  readonly title: string;
  readonly stars: number;
  readonly labels: Readonly<Record<string, string>>;
}
const noteSchema = z
  .object({
    id: z.string(),
    title: z.string(),
    stars: z.int(),
    labels: z.record(z.string(), z.string()),
  })
  .meta({ id: "Note", description: "A note" });

export interface Notes {
  readonly api: ApiHandler;
  readonly rows: Map<string, Note>;
  readonly routes: readonly ApiRoute[];
  /** The log at error level. */
  readonly errors: unknown[];
  readonly streams: { open: number };
  /** The mounts for which the guide was written. */
  readonly guides: readonly string[];
  readonly callbacks: {
    readonly url: string;
    readonly body: string;
    readonly headers: Readonly<Record<string, string>>;
  }[];
}

export const keys = {
  all: "tdg_test_all",
  reader: "tdg_test_reader",
  slow: "tdg_test_slow",
  live: "tdg_live_all",
} as const;

const limit = z.preprocess(
  (n) => (typeof n === "string" && /^\d+$/.test(n) ? Number(n) : n),
  z.int().min(1).max(100),
);

/** `requests` is how many the key `slow` has before it is refused. */
export function notes(given: Partial<Limits> = {}, requests = 2): Notes {
  const limits = { ...defaultLimits, ...given };
  const rows = new Map<string, Note>();
  const answers = new Map<string, Outcome<unknown> | string>();
  const errors: unknown[] = [];
  const streams = { open: 0 };
  const callbacks: Notes["callbacks"] = [];
  const guides: string[] = [];
  let count = 0;
  let left = requests;

  const command = <I, O>(
    name: string,
    status: 200 | 201 | 204,
    schema: z.ZodType<I>,
    act: (input: I) => O,
  ): Command<I, O> => ({
    kind: "command",
    name,
    status,
    input: () => schema,
    shows: () => null,
    run: (_tx, input) => Promise.resolve().then(() => act(input)),
  });
  const query = <I, O>(name: string, schema: z.ZodType<I>, act: (input: I) => O): Query<I, O> => ({
    kind: "query",
    name,
    input: () => schema,
    run: (_reads, input) => Promise.resolve().then(() => act(input)),
  });
  const find = (id: string): Note => {
    const note = rows.get(id);
    if (note === undefined) throw notFound("note");
    return note;
  };

  const draft = z.strictObject({
    title: z.string().min(1).max(1_000_000),
    stars: z.int().min(0).max(5).optional(),
    labels: z.record(z.string(), z.string()).optional(),
    link: z.union([z.strictObject({ url: z.string() }), z.null()]).optional(),
  });
  const byId = z.strictObject({ id: z.string().max(40) });
  const create = command(
    "notes.create",
    201,
    draft.meta({ id: "CreateNote" }),
    ({ title, stars = 0, labels = {} }) => {
      const note = { id: `note_${++count}`, title, stars, labels };
      rows.set(note.id, note);
      return note;
    },
  );
  const list = query(
    "notes.list",
    z.strictObject({
      limit: limit.optional(),
      cursor: z.string().optional(),
      tag: z.union([z.string(), z.array(z.string())]).optional(),
    }),
    ({ cursor, tag }) => {
      if (cursor !== undefined) {
        throw new TidingsError("invalid_cursor", "The cursor is of another list.");
      }
      return { data: [...rows.values()], tag: tag ?? null };
    },
  );
  const get = query("notes.get", byId, ({ id }) => find(id));
  const remove = command("notes.delete", 204, byId, ({ id }) => void rows.delete(find(id).id));
  const update = command(
    "notes.update",
    200,
    byId.extend({ title: z.string().min(1) }).meta({ id: "UpdateNote" }),
    ({ id, title }) => {
      const note = { ...find(id), title };
      rows.set(id, note);
      return note;
    },
  );
  const preview = command("notes.preview", 200, draft, ({ title }) => ({
    id: "preview",
    title,
    stars: 0,
    labels: {},
  }));
  const batch: Procedure<{ notes: unknown[] }, { count: number }> = {
    kind: "procedure",
    name: "notes.batch",
    status: 200,
    input: () => z.strictObject({ notes: z.array(z.unknown()) }),
    run: (_steps, { notes: items }) => Promise.resolve({ count: items.length }),
  };
  const fail = command("notes.fail", 200, byId, (): void => {
    throw new Error("password=hunter2 at /srv/app.ts");
  });
  const stream: EventStream<
    { last_event_id?: string | undefined; count?: string | undefined },
    unknown
  > = {
    kind: "stream",
    name: "notes.stream",
    input: () =>
      z.strictObject({ last_event_id: z.string().optional(), count: z.string().optional() }),
    async open({ over }, { last_event_id = "0", count: total = "3" }) {
      if (!/^\d+$/.test(last_event_id)) {
        throw invalid([{ parameter: "last_event_id", code: "unknown", message: "No such event." }]);
      }
      return follow(Number(last_event_id), total, over, streams);
    },
  };
  const callback: Callback = { kind: "callback", name: "transports.callback" };
  const health: PublicOperation = {
    kind: "public",
    name: "health.get",
    answer: async (reportHealth) => {
      const { status } = await reportHealth();
      return { status: 200, body: JSON.stringify({ status }) };
    },
  };
  const guide: PublicDocument = {
    kind: "document",
    name: "guide.get",
    json: (mount) => {
      guides.push(mount);
      return Promise.resolve(JSON.stringify({ mount }));
    },
  };

  const facts = { tag: "Notes" };
  const write = { ...facts, scopes: ["messages:write"] } as const;
  const read = { ...facts, scopes: ["messages:read"] } as const;
  const routes: readonly ApiRoute[] = [
    {
      ...write,
      method: "POST",
      path: "/v1/notes",
      summary: "Create a note",
      operation: create,
      response: noteSchema,
    },
    {
      ...read,
      method: "GET",
      path: "/v1/notes",
      summary: "List notes",
      operation: list,
      response: z.object({ data: z.array(noteSchema) }),
    },
    {
      ...read,
      method: "GET",
      path: "/v1/notes/:id",
      summary: "Get a note",
      operation: get,
      response: noteSchema,
    },
    {
      ...write,
      method: "DELETE",
      path: "/v1/notes/:id",
      summary: "Delete a note",
      operation: remove,
    },
    {
      ...write,
      method: "PATCH",
      path: "/v1/notes/:id",
      summary: "Edit a note",
      operation: update,
      response: noteSchema,
    },
    {
      ...facts,
      scopes: [],
      method: "POST",
      path: "/v1/notes/preview",
      summary: "Preview",
      operation: preview,
      response: noteSchema,
    },
    {
      ...write,
      method: "POST",
      path: "/v1/notes/batch",
      summary: "Create many",
      operation: batch,
      body: "batch",
      response: z.object({ count: z.int() }),
    },
    {
      ...write,
      method: "POST",
      path: "/v1/notes/:id/fail",
      summary: "Fail",
      operation: fail,
      response: noteSchema,
    },
    { ...read, method: "GET", path: "/v1/notes/stream", summary: "Follow", operation: stream },
    {
      ...facts,
      method: "POST",
      path: "/v1/transports/:name/callbacks",
      summary: "Call back",
      operation: callback,
    },
    {
      ...facts,
      method: "GET",
      path: "/v1/health",
      summary: "Health",
      operation: health,
      response: z.object({ status: z.string() }),
    },
    {
      ...facts,
      method: "GET",
      path: "/v1/guide.json",
      summary: "Guide",
      operation: guide,
      response: z.object({ mount: z.string() }),
    },
  ];

  const slowKeyId = "key_slow";
  const keyOf = (
    scopes: readonly KeyScope[],
    mode: Mode = "sandbox",
    key_id: KeyId = "key_1",
  ): Authenticated => ({
    scope: { account_id: "acct_1", mode },
    caller: { type: "key", key_id, scopes, secret_hash: "" },
    requests_per_second: 100,
  });
  const known = new Map<string, Authenticated>([
    [keys.all, keyOf(["messages:read", "messages:write"])],
    [keys.reader, keyOf(["messages:read"])],
    [keys.slow, keyOf(["messages:read", "messages:write"], "sandbox", slowKeyId)],
    [keys.live, keyOf(["messages:read", "messages:write"], "live")],
  ]);

  let now = 0;
  const keyLimiter: ApiBackend["keyLimiter"] = {
    async admit(key_id) {
      if (key_id !== slowKeyId) {
        return { admitted: true, limit: 100, remaining: 99, reset_ms: 1_000, retry_after_ms: 0 };
      }
      const admitted = left > 0;
      if (admitted) left--;
      return {
        admitted,
        limit: requests,
        remaining: left,
        reset_ms: 999,
        retry_after_ms: admitted ? 0 : 1_001,
      };
    },
  };
  const unused = undefined as never;
  const executor: Awaited<ReturnType<ApiBackend["prepared"]>>["executor"] = {
    async execute<I, O>(
      operation: Change<I, O>,
      input: I,
      { request_id, idempotency_key }: Context,
    ): Promise<Outcome<O>> {
      const run = async (): Promise<Outcome<O>> => {
        const value = await operation.run(unused, input, unused);
        return {
          status: operation.status,
          value,
          body: JSON.stringify(value ?? null),
          replayed: false,
        };
      };
      if (idempotency_key === null) return run();
      const before = answers.get(idempotency_key);
      if (typeof before === "string") {
        throw new ReplayedError("not_found", "No such note.", {}, before);
      }
      if (before !== undefined) return { ...(before as Outcome<O>), replayed: true };
      try {
        const outcome = await run();
        answers.set(idempotency_key, outcome);
        return outcome;
      } catch (error) {
        if (error instanceof TidingsError) {
          answers.set(idempotency_key, JSON.stringify(problem(error, request_id)));
        }
        throw error;
      }
    },
    runRows: (procedure, lines) => procedure.run(unused, lines, unused),
    query: (operation, input) => operation.run(unused, input, unused, 0),
    signal: () => Promise.reject(notFound("signal")),
    open: (operation, input, _context, sources) =>
      operation.open(sources as StreamSources, input, unused),
  };
  const backend: ApiBackend = {
    ...system(),
    httpClient: undefined,
    checkAccount: () => Promise.reject(notFound("account")),
    drawId: idSource({ now: () => ++now }, { bytes: (size) => new Uint8Array(size) }),
    limits,
    logger: { debug() {}, info() {}, warn() {}, error: (fact) => void errors.push(fact) },
    origins: [],
    prepared: () => Promise.resolve({ executor }),
    run: (call) => call({ executor }),
    keyRing: {
      async authenticate(secret) {
        const key = known.get(secret);
        if (key === undefined) {
          throw new TidingsError("invalid_api_key", "The API key is not valid.");
        }
        return key;
      },
      isValid: () => Promise.resolve(true),
    },
    keyLimiter,
    // No note is a visitor's.
    authenticateVisitor: () => Promise.reject(notFound("webchat session")),
    visitorLimiter: { admit: () => Promise.reject(notFound("webchat session")) },
    callbacks: {
      async receive(name, { url, body, headers }) {
        if (name !== "twilio") throw notFound("transport");
        callbacks.push({ url, headers, body: Buffer.from(body).toString() });
        return { status: 200, content_type: "text/xml", body: "<Response/>" };
      },
    },
    streams: { sources: ({ over }) => ({ over }) as StreamSources },
    health: () => Promise.resolve({ status: "ok", reasons: [] }),
  };
  return {
    api: new RequestHandler(backend, routes),
    rows,
    routes,
    errors,
    streams,
    guides,
    callbacks,
  };
}

/**
 * Yields `count` events and ends. "quiet": one event, then none until the client disconnects.
 * "broken": fails after the first event.
 */
async function* follow(
  from: number,
  count: string,
  signal: AbortSignal,
  streams: Notes["streams"],
): AsyncGenerator<StreamEvent<unknown>> {
  streams.open++;
  try {
    const last = from + (count === "quiet" || count === "broken" ? 1 : Number(count));
    for (let id = from + 1; id <= last; id++) {
      yield { id: String(id), event: "note", value: { note: id } };
    }
    if (count === "broken") throw new Error("lost");
    if (count === "quiet" && !signal.aborted) await once(signal, "abort");
  } finally {
    streams.open--;
  }
}
