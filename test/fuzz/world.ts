/** An engine with an account that has one of each resource. Each case has its own. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { MessagingEngine } from "../../adapters/entry.ts";
import { nodeHandler } from "../../adapters/http/node.ts";
import { memory } from "../../adapters/storage/memory/index.ts";
import { simulated, type VirtualClock } from "../../adapters/testing/index.ts";
import { sandbox } from "../../adapters/transport/sandbox/index.ts";
import type { ApiResponse } from "../../src/api/http.ts";
import type { AgentModel } from "../../src/ports/agent-model.ts";
import type { HttpClient, HttpOutcome } from "../../src/ports/http-client.ts";
import { silent } from "../../src/ports/logger.ts";
import { answered, line, overTelnyx, overTwilio, sid, uuid } from "../adapters/transport/world.ts";
import { call, textOf, type TestRequest } from "../api/call.ts";
import { guardedRoutes, requestOf } from "../security/examples.ts";
import { newOwner, refund, type Owner } from "../security/owner.ts";
import { checkAnswer, type Answer } from "./document.ts";

export const limits = { bodyBytes: 20_000, batchBodyBytes: 40_000, jsonDepth: 8 };

export interface FuzzWorld extends AsyncDisposable {
  readonly engine: MessagingEngine;
  readonly clock: VirtualClock;
  readonly own: Owner;
  /** Sends a request without a socket. */
  ask(request: TestRequest): Promise<ApiResponse>;
  /** Opens a server. It is closed with the world. */
  serve(): Promise<{ readonly server: Server; readonly port: number }>;
  /**
   * Finishes the work in the background, reads everything back, and throws if anything that the
   * engine logged or returns is wrong.
   */
  check(): Promise<void>;
}

export interface WorldOptions {
  /** What the receivers of webhooks answer. By default they accept everything. */
  readonly receivers?: () => HttpOutcome;
  readonly model?: AgentModel["respond"];
}

/** The number of the live account. */
export const shop = "+15005550006";

export async function fuzzWorld({
  receivers = () => answered(200, "ok"),
  model = () => ({ text: "Hello!" }),
}: WorldOptions = {}): Promise<FuzzWorld> {
  const { clock, random } = simulated();
  const errors: string[] = [];
  const client: HttpClient = { send: () => Promise.resolve(receivers()), close() {} };
  const carriers = line(() => answered(201, { sid: sid(1), data: { id: uuid(1) } }));
  const engine = new MessagingEngine({
    storage: memory(),
    transports: [sandbox(), overTwilio(carriers), overTelnyx(carriers)],
    clock,
    random,
    logger: { ...silent, error: (facts, text) => void errors.push(`${text}: ${shown(facts)}`) },
    limits,
    http: { client },
    agents: { model: { respond: model }, actions: [refund] },
  });
  await engine.start();
  const own = await newOwner({
    engine,
    settle: () => clock.settle(),
    async tenant(mode) {
      const plan = { name: "fuzz", requests_per_second: 10_000 };
      const { account, key } = await engine.accounts.create({ name: "fuzz", plan });
      return { scope: { account_id: account.id, mode }, secret: key.secret };
    },
  });
  const servers: Server[] = [];
  const ask = (request: TestRequest): Promise<ApiResponse> => call(engine.api, request);
  return {
    engine,
    clock,
    own,
    ask,
    async serve() {
      const server = createServer(nodeHandler(engine));
      servers.push(server);
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return { server, port: (server.address() as AddressInfo).port };
    },
    async check() {
      await clock.advance(20_000);
      await readBack(ask, own);
      if (errors.length > 0) throw new Error(`the engine logged an error: ${errors.join("\n")}`);
      if (Object.keys(Object.prototype).length > 0) throw new Error("Object.prototype was changed");
    },
    async [Symbol.asyncDispose]() {
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
      let isOver = false;
      const stop = engine.stop({ deadlineMs: 0 }).finally(() => (isOver = true));
      await clock.advanceUntil(() => isOver).catch(() => {});
      await stop;
    },
  };
}

function shown(facts: object): string {
  return JSON.stringify(facts, (_, value: unknown) =>
    value instanceof Error ? (value.stack ?? value.message) : value,
  );
}

export function answerOf(response: ApiResponse): Answer {
  const headers = Object.entries(response.headers).map(([name, value]) => [
    name.toLowerCase(),
    value,
  ]);
  return {
    status: response.status,
    headers: Object.fromEntries(headers) as Record<string, string>,
    body: textOf(response),
  };
}

const reading = guardedRoutes.filter(
  (route) => route.method === "GET" && route.operation.kind === "query" && "scopes" in route,
);

/** Reads everything of the account. What strangers stored must be as documented too. */
export async function readBack(
  ask: FuzzWorld["ask"],
  own: Pick<Owner, "secret"> & Partial<Owner>,
): Promise<void> {
  for (const route of reading) {
    const isList = !route.path.includes(":");
    if (own.ids === undefined && !isList) continue;
    const { path } = requestOf(route, { ...own, ids: own.ids ?? {} } as Owner);
    const answer = answerOf(await ask({ path, key: own.secret }));
    try {
      checkAnswer(answer, route);
    } catch (error) {
      throw new Error(`GET ${path} afterwards`, { cause: error });
    }
  }
}
