/** API1:2023. Whatever names another account's object is answered as if it named nothing. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ApiResponse } from "../../src/api/http.ts";
import { call, jsonOf, textOf } from "../api/call.ts";
import { storages, type Kept, type Tenant } from "../api/world.ts";
import { cases } from "../support/runs.ts";
import {
  guardedRoutes,
  nameOf,
  nounOf,
  requestOf,
  scopedRoutes,
  titled,
  type Body,
} from "./examples.ts";
import { fieldsOf } from "./fields.ts";
import { newOwner, type Owner } from "./owner.ts";
import { idleWorld, startedWorld, type SecurityWorld } from "./world.ts";

/** A PUT adds an operator under the host application's own id, in the caller's account. */
const addsOwn = "PUT /v1/operators/:id";
const withId = scopedRoutes.filter(
  (route) => /:(?!medium)/.test(route.path) && nameOf(route) !== addsOwn,
);

const never = "01JZZZZZZZZZZZZZZZZZZZZZZZ";

/** An id like this one that names nothing. */
function unknownLike(id: string): string {
  const prefix = /^[a-z]+(?=_[0-9A-Z]{26}$)/.exec(id)?.[0];
  return prefix === undefined ? `${id.slice(0, 3)}-${never}` : `${prefix}_${never}`;
}

/** What a client sees, without what differs between any two requests. */
function seen({ status, body }: ApiResponse, ...ids: readonly string[]): unknown {
  const own = /"(?:request_id|id|created_at|updated_at)":"[^"]*"|"version":\d+/g;
  const text = textOf({ body }).replace(own, "");
  return [status, ids.reduce((left, id) => left.replaceAll(id, "ID"), text)];
}

describe.each(storages)("over $name", ({ name, make }) => {
  let there: SecurityWorld;
  let kept: Kept;
  let own: Owner;
  let strangers: readonly Tenant[];
  beforeAll(async () => {
    kept = await make();
    there = idleWorld({ storage: kept.storage });
    own = await newOwner(there);
    const stranger = await there.tenant("sandbox");
    strangers = [stranger, await there.other(own), await there.other(stranger)];
  });
  afterAll(async () => {
    await there.stop();
    await kept.remove();
  });

  // A storage finds rows by key alike for all routes, so `npm test` tries a few there.
  const routes = cases([...withId.entries()], ([i]) => name === "memory" || i % 6 === 0);
  test.each(routes.map(([, route]) => titled(route)))(
    "$name answers ids of other accounts and modes like unknown ones, and changes nothing",
    async ({ route }) => {
      const noun = nounOf(route, "id");
      const id = own.ids[noun] ?? expect.fail();
      for (const { secret: key, scope } of strangers) {
        const ask = (as: string): Promise<ApiResponse> =>
          call(there.engine.api, { ...requestOf(route, own, { [noun]: as }), key });
        const unknown = await ask(unknownLike(id));
        // The sandbox's routes reject all live keys.
        const refusal = noun === "sandbox" && scope.mode === "live" ? "conflict" : "not_found";
        expect(jsonOf(unknown)).toMatchObject({ code: refusal });
        const before = await there.written();
        for (const foreign of [id, "x", "__proto__", "a%20b", id.toLowerCase()]) {
          expect([foreign, seen(await ask(foreign))]).toEqual([foreign, seen(unknown)]);
        }
        expect((await there.written()).slice(before.length)).toEqual([]);
      }
    },
  );
});

const there = await startedWorld();
afterAll(() => there.stop());
const [own, other] = [await newOwner(there), await newOwner(there)];

/** The first parameter is the caller's own, so only the second can be another account's. */
const nested = scopedRoutes.filter(({ path }) => /:\w+_id/.test(path));

describe("a resource below another one", () => {
  test.each(nested.map(titled))("is reached only below its own: $name", async ({ route }) => {
    const [, part = ""] = /:(\w+_id)/.exec(route.path) ?? [];
    const foreign = own.ids[part] ?? expect.fail();
    const ask = (id: string): Promise<ApiResponse> =>
      call(there.engine.api, requestOf(route, other, { [part]: id }));
    const before = await there.written();
    const answer = await ask(foreign);
    expect(answer.status).toBe(404);
    expect(seen(answer)).toEqual(seen(await ask(unknownLike(foreign))));
    expect((await there.written()).slice(before.length)).toEqual([]);
  });
});

/** What the fields of bodies and queries can name. Null: nothing that the engine has. */
const references: Readonly<Record<string, ((own: Owner) => unknown) | null>> = {
  to: ({ ids }) => ids["contacts"],
  from: ({ sender }) => sender,
  inbox: ({ inbox }) => inbox,
  senders: ({ sender }) => [sender],
  contact_id: ({ ids }) => ids["contacts"],
  conversation_id: ({ ids }) => ids["conversations"],
  message_id: ({ chat_message }) => chat_message,
  evidence_message_ids: ({ ids }) => [ids["messages"]],
  playbook_id: ({ ids }) => ids["playbooks"],
  playbook_ids: ({ ids }) => [ids["playbooks"]],
  assignee: ({ ids }) => ({ type: "agent", id: ids["agents"] }),
  return_key: ({ return_key }) => return_key,
  last_event_id: ({ ids }) => ids["events"],
  // The host application's own ids, and the carrier's and the browser's.
  author_id: null,
  provider_message_id: null,
  client_id: null,
  // A call of the run in the path.
  call_id: null,
};

const isReference = (field: string): boolean => field in references || /_ids?$/.test(field);
const pointing = guardedRoutes.flatMap((route) =>
  fieldsOf(route)
    .filter(({ name }) => isReference(name))
    .map((field) => ({ name: `${nameOf(route)} ${field.in} ${field.name}`, route, field })),
);

function withUnknown(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, each: unknown) =>
      typeof each === "string" && key !== "type" ? unknownLike(each) : each,
    ),
  );
}

describe("a field that names another account's resource", () => {
  test.each(pointing)("is answered like an unknown one: $name", async ({ name, route, field }) => {
    const value = references[field.name];
    if (value === null) return;
    if (value === undefined) {
      expect.fail(`${name}: say in \`references\` what it names, or that it names nothing.`);
    }
    const foreign = value(own);
    const unknown = withUnknown(foreign);
    const left = AbortSignal.abort();
    const ask = async (given: unknown): Promise<ApiResponse> => {
      const request = requestOf(route, other);
      const query = new URLSearchParams({ [field.name]: String(given) }).toString();
      const mark = request.path.includes("?") ? "&" : "?";
      const changed =
        field.in === "query"
          ? { path: `${request.path}${mark}${query}` }
          : { body: { ...(request.body as Body), [field.name]: given } };
      return call(there.engine.api, { ...request, ...changed, signal: left });
    };
    const before = await there.written();
    const answers = [await ask(foreign), await ask(unknown)] as const;
    expect(seen(answers[0], ...textsOf(foreign))).toEqual(seen(answers[1], ...textsOf(unknown)));
    const changed = (await there.written()).slice(before.length);
    expect(
      changed.flatMap((write) => ("row" in write ? write.row["account_id"] : write.key)),
    ).not.toContain(own.scope.account_id);
  });
});

const textsOf = (value: unknown): readonly string[] =>
  typeof value === "string"
    ? [value]
    : typeof value === "object" && value !== null
      ? Object.values(value).flatMap(textsOf)
      : [];
