import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { fetchHandler } from "../../../adapters/http/fetch.ts";
import { memory } from "../../../adapters/storage/memory/index.ts";
import type { Json } from "../../../src/ports/agent-model.ts";
import { stopping } from "../../support/engines/world.ts";
import { actionOf } from "../actions.ts";
import { nested } from "../nested.ts";
import { agency } from "../world.ts";

const phone = "+15005551001";
const ping = actionOf({
  name: "ping",
  execute: () => "pong",
});

describe("the input of a triggered action", () => {
  const orders = { isOpen: true, areReadable: true };
  /** Answers later, as a schema that looks up the order would. */
  const isOrder = async (id: string) => {
    await setImmediate();
    return orders.isOpen && id.startsWith("o_");
  };
  const order = z.strictObject({
    order: z.string().refine((id) => {
      if (!orders.areReadable) throw new Error("no database");
      return isOrder(id);
    }, "must be an order"),
    "a/b": z.number().optional(),
  });
  const refund = actionOf({
    name: "refund",
    input: order,
    risk: "write",
    execute: (input) => {
      if (input.order === "o_paid") throw new Error("The order is already refunded.");
      return { refunded: input.order };
    },
  });
  const start = () => agency(memory(), { actions: [refund] });

  it("is refused with one error for each field, before anything is written", async () => {
    const { engine, agent } = await start();
    const { id: contact_id } = await engine.contacts.create({ phone });
    const trigger = (input: Parameters<typeof engine.agents.trigger>[1], idempotencyKey = "k") =>
      engine.agents.trigger(
        agent.id,
        { contact_id, action: "refund", ...input },
        { idempotencyKey },
      );
    await expect(trigger({ input: { order: "none", "a/b": "x" } })).rejects.toMatchObject({
      code: "validation_failed",
      errors: expect.arrayContaining([
        { pointer: "/input/order", code: "invalid", message: "must be an order" },
        expect.objectContaining({ pointer: "/input/a~1b", code: "invalid" }),
      ]),
    });
    await expect(trigger({}), "without an input").rejects.toMatchObject({
      errors: [{ pointer: "/input/order" }],
    });
    const { data } = await engine.contacts.conversations(contact_id);
    expect([data, (await engine.agents.runs(agent.id)).data]).toEqual([[], []]);
    const run = await trigger({ input: { order: "o_1" } });
    expect(await trigger({ input: { order: "o_1" } }), "the refusal left the key free").toEqual(
      run,
    );
  });

  it("has at most 100 levels of objects and lists", async () => {
    const anything = actionOf({
      name: "anything",
    });
    const { engine, agent } = await agency(memory(), { actions: [anything] });
    const { id: contact_id } = await engine.contacts.create({ phone });
    const trigger = (input: Json) =>
      engine.agents.trigger(agent.id, { contact_id, action: "anything", input });
    expect(await trigger(nested(100))).toMatchObject({ status: "running" });
    const message = "must have at most 100 levels of objects and lists";
    for (const levels of [101, 4_000, 100_000]) {
      await expect(trigger(nested(levels)), `${levels} levels`).rejects.toMatchObject({
        code: "validation_failed",
        errors: [{ pointer: "/input", code: "too_deep", message }],
      });
    }
  });

  it("is refused for its length before its values are looked at, as there may be very many", async () => {
    const { engine, agent } = await start();
    const { id: contact_id } = await engine.contacts.create({ phone });
    const input = { order: [...Array<number>(100_000).fill(0), Number.NaN] };
    await expect(
      engine.agents.trigger(agent.id, { contact_id, action: "refund", input }),
    ).rejects.toMatchObject({
      errors: [{ pointer: "/input", message: "must have at most 16384 characters as JSON" }],
    });
  });

  it("returns the stored run for a repeated request, whatever the schema now says", async () => {
    const { engine, agent } = await start();
    const { id: contact_id } = await engine.contacts.create({ phone });
    const trigger = () =>
      engine.agents.trigger(
        agent.id,
        { contact_id, action: "refund", input: { order: "o_1" } },
        { idempotencyKey: "k" },
      );
    const run = await trigger();
    orders.isOpen = false;
    expect(await trigger()).toEqual(run);
    orders.isOpen = true;
    orders.areReadable = false;
    expect(await trigger()).toEqual(run);
    orders.areReadable = true;
  });

  it.each([
    ["o_1", "completed", { refunded: "o_1" }],
    ["o_paid", "failed", { error: "The order is already refunded." }],
  ])("%s ends the run %s", async (id, status, result) => {
    const { engine, agent, pass, runs } = await start();
    const { id: contact_id } = await engine.contacts.create({ phone });
    const input = { order: id };
    await engine.agents.trigger(agent.id, { contact_id, action: "refund", input });
    await pass();
    expect(await runs()).toMatchObject([{ status, result }]);
    const { data } = await engine.events.list({ type: "agent.run.completed" });
    expect(data).toMatchObject([{ data: { run: { status } } }]);
  });

  it("gives `internal` if the schema throws, and the run is not begun", async () => {
    const broken = actionOf({
      name: "broken",
      input: z.unknown().refine(() => {
        throw new Error("no database");
      }),
    });
    const { engine, agent, runs } = await agency(memory(), { actions: [broken] });
    const { id: contact_id } = await engine.contacts.create({ phone });
    await expect(
      engine.agents.trigger(agent.id, { contact_id, action: "broken" }),
    ).rejects.toMatchObject({ code: "internal", retryable: true });
    expect(await runs()).toEqual([]);
  });
});

it("a trigger whose schema never answers delays a stop only until its deadline", async () => {
  const endless = actionOf({
    name: "endless",
    input: z.unknown().refine(() => new Promise<boolean>(() => {})),
    timeout_ms: 60_000,
  });
  const { engine, agent, world } = await agency(memory(), { actions: [endless] });
  const { id: contact_id } = await engine.contacts.create({ phone });
  const triggered = engine.agents
    .trigger(agent.id, { contact_id, action: "endless" })
    .catch((error: unknown) => error);
  await world.clock.settle();
  const isOver = stopping(engine);
  await world.clock.advance(3_000);
  expect([isOver(), world.clock.nextWakeAt]).toEqual([true, undefined]);
  expect(await triggered).toMatchObject({ code: "shutting_down" });
});

describe("the triggers of an agent per minute", () => {
  const start = async (max_triggers_per_minute: number) => {
    const made = await agency(memory(), {
      actions: [ping],
      agent: { limits: { max_triggers_per_minute } },
    });
    const { id: contact_id } = await made.engine.contacts.create({ phone });
    const trigger = (idempotencyKey?: string, agent = made.agent.id): Promise<unknown> =>
      made.engine.agents.trigger(
        agent,
        { contact_id, action: "ping" },
        idempotencyKey === undefined ? {} : { idempotencyKey },
      );
    return { ...made, contact_id, trigger };
  };

  it("are never more than the limit, whatever the pauses, and retry_after is when the next may be", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.integer({ min: 0, max: 40_000 }), { minLength: 1, maxLength: 12 }),
        async (max, pauses) => {
          const { trigger, world } = await start(max);
          const admitted: number[] = [];
          for (const pause of pauses) {
            world.clock.step(pause);
            const now = world.clock.now();
            const recent = admitted.filter((at) => at > now - 60_000);
            const error = await trigger().then(
              () => undefined,
              (reason: unknown) => reason,
            );
            if (recent.length < max) {
              expect(
                error,
                `A run is admitted unless ${max} were in the last minute: ${recent.length}.`,
              ).toBeUndefined();
              admitted.push(now);
            } else {
              const retryAfterMs = (recent.at(-max) ?? 0) + 60_000 - now;
              expect(error).toMatchObject({ code: "rate_limited", retryable: true, retryAfterMs });
            }
          }
        },
      ),
      { numRuns: 15 },
    );
  });

  it("count no refused trigger, no repeated request and no other agent's, and all at once are exact", async () => {
    const { trigger, engine, pass, runs } = await start(3);
    await trigger("k");
    await trigger("k");
    await expect(
      engine.agents.trigger((await runs())[0]?.agent_id ?? "", { action: "ping" }),
    ).rejects.toMatchObject({ code: "validation_failed" });
    const settled = await Promise.allSettled(Array.from({ length: 20 }, () => trigger()));
    expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
    const limited: unknown = expect.objectContaining({ code: "rate_limited" });
    for (const each of settled) {
      if (each.status === "rejected") expect(each.reason).toEqual(limited);
    }
    expect(await runs()).toHaveLength(3);
    const { id } = await engine.agents.create({ name: "Bo", channels: ["mms"] });
    const { id: contact_id } = await engine.contacts.create({ phone: "+15005551002" });
    await engine.agents.trigger(id, { contact_id, action: "ping" });
    await pass(60_000);
    await trigger();
  });

  it("are a 429 with Retry-After over HTTP, and the refusal leaves the idempotency key free", async () => {
    const { engine, agent, contact_id, world, trigger } = await start(1);
    await trigger();
    world.clock.step(20_500);
    const { secret } = await engine.apiKeys.create({ name: "k", scopes: ["agents:trigger"] });
    const ask = () =>
      fetchHandler(engine)(
        new Request(`http://localhost/v1/agents/${agent.id}/trigger`, {
          method: "POST",
          headers: {
            authorization: `Bearer ${secret}`,
            "content-type": "application/json",
            "idempotency-key": "again",
          },
          body: JSON.stringify({ contact_id, action: "ping" }),
        }),
      );
    const refused = await ask();
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "40"]);
    expect(await refused.json()).toMatchObject({ code: "rate_limited", retryable: true });
    world.clock.step(40_000);
    expect((await ask()).status).toBe(202);
  });

  it("can be a hundred at once by default", async () => {
    const { trigger, runs } = await start(100);
    await Promise.all(Array.from({ length: 100 }, () => trigger()));
    expect((await runs()).length).toBe(100);
  });
});
