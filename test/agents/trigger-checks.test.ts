import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { memory } from "../../adapters/storage/memory/index.ts";
import { action } from "../../src/ports/action.ts";
import { agency } from "./world.ts";

const phone = "+15005551001";

describe("the input of a triggered action", () => {
  const orders = { isOpen: true };
  /** A schema that answers later, as one that looks up the order would. */
  const order = z.strictObject({
    order: z.string().refine(async (id) => {
      await setImmediate();
      return orders.isOpen && id.startsWith("o_");
    }, "must be an order"),
    "a/b": z.number().optional(),
  });
  const refund = action({
    name: "refund",
    description: "Refunds an order.",
    input: order,
    risk: "write",
    idempotent: true,
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
    const broken = action({
      name: "broken",
      description: "Has a broken schema.",
      input: z.unknown().refine(() => {
        throw new Error("no database");
      }),
      risk: "read",
      idempotent: true,
      execute: () => null,
    });
    const { engine, agent, runs } = await agency(memory(), { actions: [broken] });
    const { id: contact_id } = await engine.contacts.create({ phone });
    await expect(
      engine.agents.trigger(agent.id, { contact_id, action: "broken" }),
    ).rejects.toMatchObject({ code: "internal", retryable: true });
    expect(await runs()).toEqual([]);
  });
});
