import { describe, expect, it, test } from "vitest";
import { standard } from "../../adapters/standard.ts";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import { TidingsError } from "../../src/kernel/errors.ts";
import type { EventPattern } from "../../src/webhooks/event-patterns.ts";
import type { CreateWebhook, UpdateWebhook } from "../../src/webhooks/input-types.ts";
import { webhooks } from "../../src/webhooks/rows.ts";
import { world } from "../support/engines/world.ts";
import { outcome } from "../support/outcome.ts";
import { all } from "../support/pages.ts";
import { rowsOf } from "../support/storage/rows.ts";
import { lightStorages } from "../support/storage/storages.ts";
import { isGenuine, receivers } from "./receivers.ts";
import { addWebhooks, partsOf } from "./rows.ts";
import { openedOn } from "./world.ts";

const hook: CreateWebhook = { url: "https://hooks.example.com/in", events: ["*"] };
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** The errors of an input, by field. */
async function problems(work: Promise<unknown>): Promise<string[]> {
  try {
    await work;
    return ["nothing"];
  } catch (error) {
    if (!(error instanceof TidingsError)) throw error;
    return error.errors.map((each) => `${"pointer" in each ? each.pointer : "?"} ${each.code}`);
  }
}

describe.each(lightStorages)("webhooks on $name", ({ open }) => {
  const opened = () => openedOn(open());

  it("are returned as created, newest first, and show their secret once", async () => {
    const { one } = opened();
    const headers = { "X-Tenant": "7" };
    const made = await one.webhooks.create({
      ...hook,
      headers,
      ordering: "fifo",
      description: "orders",
    });
    const { secret, ...shown } = made;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(shown).toMatchObject({
      ...hook,
      headers,
      ordering: "fifo",
      description: "orders",
      status: "enabled",
    });
    const plain = await one.webhooks.create({
      url: "https://hooks.example.com",
      events: ["message.*", "message.sent"],
    });
    expect(plain).toMatchObject({
      url: "https://hooks.example.com/",
      events: ["message.*", "message.sent"],
      headers: {},
      ordering: "none",
      description: null,
      disabled_reason: null,
      failing_since: null,
      previous_expires_at: null,
    });
    expect(plain.secret).not.toBe(secret);
    expect(await one.webhooks.get(made.id)).toEqual(shown);
    const listed = await all((page) => one.webhooks.list(page), 1);
    expect(listed.map(({ id }) => id)).toEqual([plain.id, made.id]);
    expect(JSON.stringify(listed)).not.toContain("whsec_");
  });

  it("are limited to 1,000, also if engines create them at once; a deletion frees a place", async () => {
    const { engine, ground, storage, http, one } = opened();
    const two = engine(ground.connect(), { http });
    const { id } = await one.webhooks.create(hook);
    const [like] = await rowsOf(storage, webhooks);
    if (like !== undefined) await addWebhooks(storage, like, 998);
    const made = [one, two, one, two].map((each) => outcome(each.webhooks.create(hook)));
    expect((await Promise.all(made)).toSorted()).toEqual([
      "conflict",
      "conflict",
      "conflict",
      "done",
    ]);
    await one.webhooks.remove(id);
    expect(await outcome(two.webhooks.create(hook))).toBe("done");
    expect(await outcome(one.webhooks.create(hook))).toBe("conflict");
    expect(await outcome(one.account(undefined, { mode: "live" }).webhooks.create(hook))).toBe(
      "done",
    );
  });

  it.each(["http://localhost:8080/hook", "http://127.0.0.1:8080/hook", "http://10.1.2.3/hook"])(
    "to local addresses name the option that allows them: %s",
    async (url) => {
      const { engine, storage } = opened();
      await expect(
        engine(storage, standard()).webhooks.create({ ...hook, url }),
      ).rejects.toMatchObject({
        errors: [
          {
            pointer: "/url",
            message: expect.stringContaining("engine option `http.allow`"),
          },
        ],
      });
    },
  );

  it("sign with the new secret and, in the grace time, with the previous one, but no older one", async () => {
    const { clock, there, one } = opened();
    await one.start();
    const { id, secret: first } = await one.webhooks.create(hook);
    const signers = async (secrets: readonly (string | null)[]): Promise<boolean[]> => {
      await one.webhooks.test(id);
      await clock.advance(1_000);
      const seen = there.seen.at(-1) ?? expect.fail("nothing came");
      return secrets.map((secret) => isGenuine(seen, secret ?? ""));
    };
    const { secret: second, previous_expires_at } = await one.webhooks.rotateSecret(id, {
      grace_seconds: 3_600,
    });
    expect(previous_expires_at).toBe(new Date(clock.now() + hourMs).toISOString());
    expect(await signers([first, second])).toEqual([true, true]);
    const { secret: third } = await one.webhooks.rotateSecret(id);
    expect(await signers([first, second, third])).toEqual([false, true, true]);
    const { secret: fourth } = await one.webhooks.rotateSecret(id, { grace_seconds: 0 });
    expect(await signers([second, third, fourth])).toEqual([false, false, true]);
    const { secret: fifth } = await one.webhooks.rotateSecret(id, { grace_seconds: 60 });
    await clock.advance(60_000);
    expect(await signers([fourth, fifth])).toEqual([false, true]);
  });

  it("sign with each replaced secret for its whole grace time, also days after an earlier rotation", async () => {
    const { clock, there, one } = opened();
    await one.start();
    const { id, secret: first } = await one.webhooks.create(hook);
    let replaced = first;
    for (const [daysBefore, grace_seconds] of [
      [0, 86_400],
      [3, 3_600],
      [5, 86_400],
      [2, 604_800],
      [9, 60],
    ] as const) {
      clock.step(daysBefore * dayMs);
      const { secret, previous_expires_at } = await one.webhooks.rotateSecret(id, {
        grace_seconds,
      });
      const until = clock.now() + grace_seconds * 1_000;
      expect(previous_expires_at).toBe(new Date(until).toISOString());
      for (const [at, isInGrace] of [
        [until - 1_000, true],
        [until, false],
      ] as const) {
        clock.step(at - clock.now());
        await one.webhooks.test(id);
        await clock.advance(500);
        const seen = there.seen.at(-1) ?? expect.fail("nothing came");
        expect(
          [replaced, secret].map((each) => isGenuine(seen, each ?? "")),
          `the replaced and the new secret ${isInGrace ? "before" : "at"} the end of the grace ` +
            `time of ${grace_seconds} s, ${daysBefore} days after the last one`,
        ).toEqual([isInGrace, true]);
      }
      replaced = secret;
    }
  });

  it("use a new filter for new events, and still get events that the old filter matched", async () => {
    const { clock, there, storage, one } = opened();
    const { id } = await one.webhooks.create({ ...hook, events: ["message.*", "contact.created"] });
    await one.sandbox.event({ type: "message.sent" });
    await one.sandbox.event({ type: "contact.updated" });
    const changed = await one.webhooks.update(id, { events: ["contact.*", "contact.created"] });
    expect(changed.events).toEqual(["contact.*", "contact.created"]);
    expect((await partsOf(storage, id)).patterns).toEqual(["contact.*"]);
    for (const type of ["message.sent", "contact.updated", "contact.created"] as const) {
      await one.sandbox.event({ type });
    }
    await one.start();
    await clock.advance(1_000);
    const types = there.seen.map(({ body }) => (JSON.parse(body) as { type: string }).type);
    expect(types.toSorted()).toEqual(["contact.created", "contact.updated", "message.sent"]);
  });

  it("are called at their current URL with their current headers", async () => {
    const { clock, there, one } = opened();
    const { id } = await one.webhooks.create({ ...hook, headers: { "X-A": "1", "X-B": "1" } });
    await one.sandbox.event({ type: "message.sent" });
    const url = "https://other.example.com/";
    await one.webhooks.update(id, { url, headers: { "X-B": "2" }, description: null });
    await one.start();
    await clock.advance(1_000);
    expect(there.seen).toMatchObject([{ url, headers: { "x-b": "2" } }]);
    expect(there.seen[0]?.headers).not.toHaveProperty("x-a");
  });

  it("keep deliveries while they are paused, and send them once enabled", async () => {
    const { clock, there, one } = opened();
    await one.start();
    const { id } = await one.webhooks.create(hook);
    expect(await one.webhooks.update(id, { status: "paused" })).toMatchObject({ status: "paused" });
    await one.sandbox.event({ type: "message.sent" });
    await clock.advance(120_000);
    expect(there.seen).toEqual([]);
    expect((await one.webhooks.deliveries(id)).data).toMatchObject([
      { status: "parked", next_attempt_at: null },
    ]);
    await one.webhooks.update(id, { status: "enabled" });
    await clock.advance(1_000);
    expect(there.seen).toHaveLength(1);
    expect((await one.webhooks.deliveries(id)).data).toMatchObject([{ status: "succeeded" }]);
  });

  it("with fifo order get a manual delivery as soon as a pause holds back what is before it", async () => {
    const { clock, there, one } = opened();
    there.at(hook.url, (_, n) =>
      n === 1 ? { status: 503, headers: { "retry-after": "600" } } : {},
    );
    await one.start();
    const { id } = await one.webhooks.create({ ...hook, ordering: "fifo" });
    await one.sandbox.event({ type: "message.sent" });
    await one.sandbox.event({ type: "message.sent" });
    await clock.advance(1_000);
    const [succeeded] = (await one.webhooks.deliveries(id, { status: "succeeded" })).data;
    await one.webhooks.redeliver(id, succeeded?.id ?? "");
    await clock.advance(120_000);
    expect(there.seen).toHaveLength(2);
    await one.webhooks.update(id, { status: "paused" });
    await clock.advance(1_000);
    expect(there.seen).toHaveLength(3);
  });

  it("that were disabled start unproven once enabled; a client cannot disable one", async () => {
    const { clock, there, storage, one } = opened();
    there.at(hook.url, (_, n) => ({ status: n === 0 ? 410 : 200 }));
    await one.start();
    const { id } = await one.webhooks.create(hook);
    await one.sandbox.event({ type: "message.sent" });
    await clock.advance(1_000);
    expect(await one.webhooks.get(id)).toMatchObject({
      status: "disabled",
      disabled_reason: "gone",
      failing_since: expect.stringMatching(/^2026-01-01T00:00:00/),
    });
    const parked = await one.webhooks.deliveries(id, { status: "parked" });
    expect(parked.data.map(({ event_type }) => event_type)).toEqual(["webhook.disabled"]);
    expect(await one.webhooks.update(id, { status: "enabled" })).toMatchObject({
      status: "enabled",
      disabled_reason: null,
      failing_since: null,
    });
    const [row] = await rowsOf(storage, webhooks);
    expect(row).toMatchObject({ streak: null, proven: false, paused_until: null });
    await clock.advance(1_000);
    expect(there.seen).toHaveLength(2);
    await expect(one.webhooks.update(id, { status: "disabled" as "paused" })).rejects.toMatchObject(
      {
        code: "validation_failed",
        errors: [{ pointer: "/status" }],
      },
    );
  });

  it("that are enabled do not change if they are enabled again", async () => {
    const { clock, there, storage, one } = opened();
    there.at(hook.url, () => ({ status: 503, headers: { "retry-after": "600" } }));
    await one.start();
    const { id } = await one.webhooks.create(hook);
    await one.sandbox.event({ type: "message.sent" });
    await clock.advance(1_000);
    const [before] = await rowsOf(storage, webhooks);
    expect(before?.paused_until).not.toBeNull();
    await one.webhooks.update(id, { status: "enabled" });
    const [after] = await rowsOf(storage, webhooks);
    expect(after).toMatchObject({ paused_until: before?.paused_until, streak: before?.streak });
  });

  it("that are deleted get nothing more and leave no rows", async () => {
    const { clock, started, ground, storage, there, http, one } = opened();
    const { id } = await one.webhooks.create(hook);
    const { id: other } = await one.webhooks.create({ ...hook, url: "https://other.example.com/" });
    await Promise.all(
      Array.from({ length: 120 }, () => one.sandbox.event({ type: "message.sent" })),
    );
    await one.webhooks.recover(id, { since: new Date(clock.now()).toISOString() });
    await one.webhooks.remove(id);
    const gone = [one.webhooks.get(id), one.webhooks.deliveries(id), one.webhooks.test(id)].map(
      outcome,
    );
    expect(await Promise.all(gone)).toEqual(["not_found", "not_found", "not_found"]);
    expect((await partsOf(storage, id)).jobs).toEqual(["discard"]);
    await started(ground.connect(), { http });
    await clock.advance(10_000);
    expect(there.seen.filter(({ url }) => url === hook.url)).toEqual([]);
    expect(await partsOf(storage, id)).toEqual({
      patterns: [],
      deliveries: 0,
      attempts: 0,
      jobs: [],
    });
    expect(await partsOf(storage, other)).toMatchObject({ patterns: ["*"], deliveries: 120 });
  });

  it("that are deleted during a request leave no rows", async () => {
    const { clock, storage, there, one } = opened();
    there.at(hook.url, () => ({ after: 5_000 }));
    await one.start();
    const { id } = await one.webhooks.create(hook);
    await one.sandbox.event({ type: "message.sent" });
    await clock.advance(1_000);
    expect(there.seen).toHaveLength(1);
    await one.webhooks.remove(id);
    await clock.advance(60_000);
    expect(await partsOf(storage, id)).toEqual({
      patterns: [],
      deliveries: 0,
      attempts: 0,
      jobs: [],
    });
    expect(await rowsOf(storage, webhooks)).toEqual([]);
  });

  it("replay all operations by idempotency key; a replay shows no secret", async () => {
    const { storage, one } = opened();
    const key = (name: string) => ({ idempotencyKey: name });
    const twice = async <T>(call: () => Promise<T>): Promise<[T, T]> => [
      await call(),
      await call(),
    ];
    const made = await twice(() => one.webhooks.create(hook, key("create")));
    expect(made[0].secret).not.toBeNull();
    expect(made[1]).toEqual({ ...made[0], secret: null });
    const { id } = made[0];
    expect((await one.webhooks.list()).data).toHaveLength(1);
    const rotated = await twice(() => one.webhooks.rotateSecret(id, {}, key("rotate")));
    expect(rotated[1]).toEqual({ ...rotated[0], secret: null });
    const [row] = await rowsOf(storage, webhooks);
    expect([row?.secret, row?.previous_secret]).toEqual([rotated[0].secret, made[0].secret]);
    const changed = await twice(() => one.webhooks.update(id, { description: "x" }, key("update")));
    expect(changed[1]).toEqual(changed[0]);
    const tested = await twice(() => one.webhooks.test(id, {}, key("test")));
    expect(tested[1]).toEqual(tested[0]);
    expect((await one.webhooks.deliveries(id)).data).toHaveLength(1);
    const redelivered = await twice(() =>
      one.webhooks.redeliver(id, tested[0].id, key("redeliver")),
    );
    expect(redelivered[1]).toEqual(redelivered[0]);
    const since = "2026-01-01T00:00:00Z";
    const recovered = await twice(() => one.webhooks.recover(id, { since }, key("recover")));
    expect(recovered[1]).toEqual(recovered[0]);
    const fired = await twice(() => one.sandbox.event({ type: "message.sent" }, key("event")));
    expect(fired[1]).toEqual(fired[0]);
    expect((await one.events.list()).data).toEqual([fired[0]]);
    await one.webhooks.remove(id, key("remove"));
    expect(await outcome(one.webhooks.remove(id, key("remove")))).toBe("done");
    expect(await outcome(one.webhooks.remove(id))).toBe("not_found");
    expect(await outcome(one.webhooks.update(id, { description: "y" }, key("update")))).toBe(
      "idempotency_key_reused",
    );
  });
});

describe("an invalid input of a webhook", () => {
  const { engine, clock } = world();
  const { client } = receivers(clock);
  const wrong: [string, Partial<CreateWebhook>, string[]][] = [
    ["no URL", { url: "hooks" }, ["/url url_invalid"]],
    ["a URL with a password", { url: "https://a:b@example.com/" }, ["/url credentials_in_url"]],
    ["an internal name", { url: "https://localhost/" }, ["/url host_forbidden"]],
    ["an internal address in any notation", { url: "https://0x7f.1/" }, ["/url address_forbidden"]],
    ["another scheme", { url: "ftp://example.com/" }, ["/url scheme_forbidden"]],
    ["no events", { events: [] }, ["/events too_small"]],
    [
      "unknown events",
      { events: ["message.*", "nothing" as EventPattern] },
      ["/events/1 invalid_value"],
    ],
    ["too many events", { events: Array.from({ length: 51 }, () => "*") }, ["/events too_big"]],
    ["an event twice", { events: ["message.sent", "*", "message.sent"] }, ["/events invalid"]],
    ["the sender's own header", { headers: { Host: "x" } }, ["/headers/Host reserved"]],
    [
      "several headers",
      { headers: { "a b": "x", c: "1\n2" } },
      ["/headers/a b invalid_name", "/headers/c invalid_value"],
    ],
    [
      "too many headers",
      { headers: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`x-${n}`, "1"])) },
      ["/headers too_many"],
    ],
    [
      "a header that would be lost",
      { headers: JSON.parse('{"__proto__":"x"}') as Record<string, string> },
      ["/headers/__proto__ invalid"],
    ],
    ["another order", { ordering: "lifo" as "fifo" }, ["/ordering invalid_value"]],
    ["a long description", { description: "x".repeat(501) }, ["/description invalid"]],
    ["an unknown field", { secret: "x" } as Partial<CreateWebhook>, ["/secret unknown_field"]],
  ];

  test.each(wrong)("%s is rejected on create and on update", async (_name, asked, expected) => {
    const one: MessagingEngine = engine(memory(), { http: { client } });
    const { id } = await one.webhooks.create(hook);
    expect(await problems(one.webhooks.create({ ...hook, ...asked }))).toEqual(expected);
    expect(await problems(one.webhooks.update(id, asked as UpdateWebhook))).toEqual(expected);
    expect((await one.webhooks.list()).data).toHaveLength(1);
  });

  test("plain http is allowed only in the sandbox, and internal hosts only on the allow list", async () => {
    const one = engine(memory(), { http: { client, allow: ["hooks.internal", "10.1.0.0/16"] } });
    const live = one.account(undefined, { mode: "live" });
    const at = (url: string) => ({ ...hook, url });
    expect(await problems(one.webhooks.create(at("http://example.com/")))).toEqual(["nothing"]);
    await expect(live.webhooks.create(at("http://example.com/"))).rejects.toMatchObject({
      errors: [
        {
          pointer: "/url",
          code: "scheme_forbidden",
          message: "Expected https, got http. A webhook needs https in live mode.",
        },
      ],
    });
    expect(await problems(live.webhooks.create(at("https://hooks.internal/")))).toEqual([
      "nothing",
    ]);
    expect(await problems(live.webhooks.create(at("https://10.1.2.3/")))).toEqual(["nothing"]);
    expect(await problems(live.webhooks.create(at("https://10.2.2.3/")))).toEqual([
      "/url address_forbidden",
    ]);
  });

  test("an engine without an HTTP client cannot create webhooks or change URLs, but can do all else", async () => {
    const storage = memory();
    const one = engine(storage, { http: { client } });
    const { id } = await one.webhooks.create(hook);
    const mute = engine(storage);
    expect(await outcome(mute.webhooks.create(hook, { idempotencyKey: "k" }))).toBe(
      "not_configured",
    );
    expect(await outcome(mute.webhooks.update(id, { url: hook.url }))).toBe("not_configured");
    expect(
      await outcome(mute.webhooks.update(id, { status: "paused", events: ["message.sent"] })),
    ).toBe("done");
    expect(await outcome(mute.webhooks.rotateSecret(id))).toBe("done");
    // The error is not stored: an engine with a client may use the same key.
    expect(await outcome(one.webhooks.create(hook, { idempotencyKey: "k" }))).toBe("done");
  });
});
