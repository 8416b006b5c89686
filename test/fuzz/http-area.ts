/** Requests of clients, over a socket. */
import fc from "fast-check";
import type { ApiRoute } from "../../src/operations/api-route.ts";
import { allRoutes, nameOf, nounOf, requestOf } from "../security/examples.ts";
import { bodySchemaOf, fieldsOf } from "../security/fields.ts";
import type { Owner } from "../security/owner.ts";
import { area } from "./area.ts";
import { checkAnswer } from "./document.ts";
import {
  corrupted,
  corruption,
  mutated,
  mutation,
  oddText,
  valid,
  type Corruption,
  type Json,
  type Mutation,
  type Names,
} from "./json.ts";
import { answersIn, bytesOf, isExact, send, type Framing, type WireRequest } from "./wire.ts";
import { fuzzWorld } from "./world.ts";

/** Stands for a name of the account, which is known only in its world. */
const known = (name: string): string => `{{${name}}}`;

const names: Names = {
  contact_id: fc.constant(known("contacts")),
  conversation_id: fc.constant(known("conversations")),
  playbook_id: fc.constant(known("playbooks")),
  message_id: fc.constant(known("chat_message")),
  to: fc.constantFrom(known("contacts"), "+15005550001", "+15005550002", "visitor"),
  from: fc.constantFrom(known("sender"), "+15005559999"),
  inbox: fc.constant(known("inbox")),
  return_key: fc.constant(known("return_key")),
  transport: fc.constantFrom("sandbox", "webchat"),
  action: fc.constant("refund"),
  phone: fc.constantFrom("+15005550001", "+15005550002", "+15005550003"),
  time_zone: fc.constantFrom("Europe/Berlin", "UTC", "Mars/Olympus"),
  language: fc.constantFrom("de", "en-GB", "x"),
  idempotency_key: fc.constantFrom("a", "b", "c"),
};

const routes = new Map(allRoutes.map((route) => [nameOf(route), route]));

interface Plan {
  /** The name of a route, so that a failure shows it in one line. */
  readonly name: string;
  readonly isOwn: boolean;
  readonly odd: string;
  readonly query: readonly (readonly [string, Json])[];
  readonly body: Json;
  readonly mutation: Mutation | null;
  readonly corruption: Corruption | null;
  readonly method: string | null;
  readonly version: string;
  readonly credentials: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly framing: Framing;
}

const mostly = <T>(usual: T, arbitrary: fc.Arbitrary<T>, weight = 9): fc.Arbitrary<T> =>
  fc.oneof({ weight, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary });

const framing: fc.Arbitrary<Framing> = fc.oneof(
  { weight: 12, arbitrary: fc.constant({ kind: "length" } as const) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("chunked" as const),
      sizes: fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 4 }),
      extra: mostly("", fc.constantFrom(";a=b", ";", " ", `;${"x".repeat(20_000)}`, "g", "\n")),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom("short" as const, "long", "both", "none", "twice"),
    }),
  },
);

const headers = fc.array(
  fc.constantFrom<readonly [string, string]>(
    ["Idempotency-Key", "a"],
    ["Idempotency-Key", '"a'],
    ["Idempotency-Key", "\xe9"],
    ["Content-Type", "application/json"],
    ["Content-Type", "application/x-ndjson"],
    ["Content-Type", "text/plain; charset=utf-16"],
    ["Content-Encoding", "gzip"],
    ["Content-Encoding", "identity"],
    ["Authorization", "Bearer x"],
    ["Last-Event-ID", "0"],
    ["Last-Event-ID", "\xff\x00"],
    ["Expect", "100-continue"],
    ["Expect", "the unexpected"],
    ["Connection", "upgrade"],
    ["Upgrade", "h2c"],
    ["Cookie", "a=b"],
    ["Range", "bytes=0-1"],
    ["If-None-Match", "*"],
    ["If-Match", "x"],
    ["Origin", "https://evil.example"],
    ["Access-Control-Request-Method", "POST"],
    ["Accept", "image/png"],
    ["Accept-Encoding", "gzip;q=1e9"],
    ["X-HTTP-Method-Override", "DELETE"],
    ["X-Long", "x".repeat(15_000)],
    ["X-Folded", "a\r\n b"],
    ["X-Split", "a\r\nX-Injected: b"],
    ["X-Bare", "a\nb"],
    ["Bad Name", "x"],
    ["Host", "evil.example"],
    ["TE", "trailers"],
    ["Transfer-Encoding", "gzip, chunked"],
    ["Transfer-Encoding", "identity"],
    ["Content-Length", "+5"],
    ["Content-Length", "1e3"],
  ),
  { maxLength: 2 },
);

function planOf(route: ApiRoute): fc.Arbitrary<Plan> {
  const schema = bodySchemaOf(route);
  const inQuery = fieldsOf(route).filter((field) => field.in === "query");
  const one = inQuery.map(({ name, schemas }) =>
    fc.tuple(
      fc.constant(name),
      fc.oneof(
        { weight: 3, arbitrary: names[name] ?? valid({ anyOf: schemas }, names) },
        { weight: 1, arbitrary: oddText },
      ),
    ),
  );
  const parameter = fc.oneof(...one, { weight: 1, arbitrary: fc.tuple(oddText, oddText) });
  return fc.record({
    name: fc.constant(nameOf(route)),
    isOwn: mostly(true, fc.constant(false), 6),
    odd: oddText,
    query: fc.oneof(
      { weight: one.length === 0 ? 8 : 1, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(parameter, { maxLength: 3 }) },
    ),
    body: schema === undefined ? fc.constant<Json>({}) : valid(schema, names),
    mutation: fc.option(mutation, { freq: 2 }),
    corruption: mostly(null, corruption, 6),
    method: mostly<string | null>(
      null,
      fc.constantFrom("HEAD", "OPTIONS", "PUT", "DELETE", "TRACE", "PROPFIND", "get", "G\tT", ""),
      15,
    ),
    version: mostly(
      "HTTP/1.1",
      fc.constantFrom("HTTP/1.0", "HTTP/2.0", "HTTP/1.2", "http/1.1", ""),
      30,
    ),
    credentials: mostly("right", fc.constantFrom("none", "basic", "wrong", "token", "key"), 12),
    headers: mostly<readonly (readonly [string, string])[]>([], headers, 2),
    framing,
  });
}

interface HttpCase {
  readonly plans: readonly Plan[];
  readonly cuts: readonly number[];
}

const plan = fc.oneof(...allRoutes.map(planOf));

/** Encodes a text for a request line. Most of it stays as odd as it was. */
const encoded = (text: string): string =>
  encodeURI(text.toWellFormed()).replaceAll(/[?#&+]/g, encodeURIComponent);

function routeOf({ name }: Plan): ApiRoute {
  const route = routes.get(name);
  if (route === undefined) throw new Error(`no route ${name}`);
  return route;
}

function wireRequest(plan: Plan, own: Owner): WireRequest {
  const { isOwn, odd, query, method, version, framing, credentials } = plan;
  const route = routeOf(plan);
  const fill = (text: string): string =>
    text.replaceAll(/\{\{(\w+)\}\}/g, (whole, name: string) => {
      const value = own.ids[name] ?? own[name as "inbox"];
      return typeof value === "string" ? value : whole;
    });
  const usual = requestOf(route, own, isOwn ? {} : { [nounOf(route, "id")]: encoded(odd) });
  const parameters = query.map(
    ([name, value]) =>
      `${encoded(name)}=${encoded(fill(typeof value === "string" ? value : JSON.stringify(value)))}`,
  );
  const [path = "", given = ""] = usual.path.split("?");
  const search = [given, ...parameters].filter((each) => each !== "").join("&");
  const body = bodyOf(plan, fill);
  const hasBody = route.method !== "GET" || body.length > 2;
  const keys: Readonly<Record<string, string>> = {
    right: `Bearer ${usual.key}`,
    basic: `Basic ${btoa(own.secret)}`,
    wrong: "Bearer tdg_test_x",
    token: `Bearer ${own.token}`,
    key: `Bearer ${own.secret}`,
  };
  const key = keys[credentials];
  const given_type = plan.headers.some(([name]) => name === "Content-Type");
  return {
    method: method ?? route.method,
    target: (search === "" ? path : `${path}?${search}`).slice(0, 10_000),
    version,
    headers: [
      ["Host", "localhost"],
      ...(key === undefined ? [] : [["Authorization", key] as const]),
      ...(hasBody && !given_type ? [["Content-Type", "application/json"] as const] : []),
      ...plan.headers,
    ],
    body: hasBody ? body : Buffer.alloc(0),
    framing: hasBody ? framing : { kind: "none" },
  };
}

function bodyOf({ body, mutation, corruption }: Plan, fill: (text: string) => string): Buffer {
  const value = mutation === null ? body : mutated(body, mutation);
  const bytes = Buffer.from(fill(JSON.stringify(value)));
  return corruption === null ? bytes : corrupted(bytes, corruption);
}

/** Statuses with which Node itself refuses what is not HTTP. */
const notHttp = new Set([400, 408, 413, 417, 431]);

export const httpArea = area<HttpCase>({
  name: "http",
  share: 4,
  cases: fc.record({
    plans: fc.array(plan, { minLength: 1, maxLength: 5 }),
    cuts: fc.oneof(fc.constant([]), fc.array(fc.nat({ max: 5_000 }), { maxLength: 6 })),
  }),
  async run({ plans, cuts }, sent) {
    await using world = await fuzzWorld();
    const { port } = await world.serve();
    const wire = plans.map((each) => ({ plan: each, request: wireRequest(each, world.own) }));
    // What follows a request that is read in another way than it was meant cannot be told apart.
    const odd = wire.findIndex(
      ({ plan: { headers: more }, request }) => !isExact(request) || more.length > 0,
    );
    const used = odd === -1 ? wire : wire.slice(0, odd + 1);
    const closing = [["Connection", "close"]] as const;
    const bytes = Buffer.concat(
      used.map(({ request }, i) =>
        i < used.length - 1
          ? bytesOf(request)
          : bytesOf({ ...request, headers: [...request.headers, ...closing] }),
      ),
    );
    sent(bytes);
    const received = await send(port, bytes, { cuts, isComplete: odd === -1 });
    const methods = used.map(({ request }) => request.method);
    const answers = answersIn(received, methods, { mayBreakOff: odd !== -1 });
    for (const [i, answer] of answers.entries()) {
      const asked = used[i];
      const isOdd = i === odd || asked === undefined;
      // Node refuses what is not HTTP at once, before the answers to earlier requests.
      const isNodes = answer.headers["request-id"] === undefined && answer.body === "";
      const isLast = odd !== -1 && i === answers.length - 1;
      if (isLast && isNodes && notHttp.has(answer.status)) continue;
      const isAsMeant = !isOdd && asked.plan.method === null && asked.plan.isOwn;
      const route = isAsMeant ? routeOf(asked.plan) : undefined;
      checkAnswer(answer, route, asked?.request.method === "HEAD");
    }
    await world.check();
  },
});
