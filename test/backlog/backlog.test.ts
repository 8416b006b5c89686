import { describe, expect, it } from "vitest";
import { httpClient } from "../../adapters/http-client/index.ts";
import { carrier } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { over } from "../support/over.ts";
import { isLong } from "../support/runs.ts";
import { storages } from "../support/storage/storages.ts";

describe.each(storages)("an account's backlog on $name", ({ name, open }) => {
  /** What does not depend on the storage. See `lightStorages`. */
  const isTried = isLong || name === "SQLite";

  it("counts what waits since when, and shows nothing of another account", async () => {
    const { clock, engine } = world();
    const ground = open();
    const one = engine(ground.connect());
    const since = new Date(clock.now()).toISOString();
    for (const to of ["+15005551001", "+15005551002", "+15005551002"]) {
      await one.messages.send({ to, body: "Hi" });
    }
    clock.step(60_000);
    const sending = { kind: "send", transport: "sandbox", later: 0, running: 0 };
    const waiting = [{ ...sending, due: 2, oldest_due_at: since }];
    expect((await one.account().backlog()).work).toEqual(waiting);

    const { account } = await one.accounts.create({ name: "other" });
    const theirs = one.account(account.id);
    await theirs.messages.send({ to: "+15005551003", body: "Hi" });
    expect((await one.account().backlog()).work).toEqual(waiting);
    const { work } = await theirs.backlog();
    expect(work).toMatchObject([{ kind: "send", due: 1 }]);
    const own = (await one.account().get()).id;
    expect((await one.account(own, { mode: "live" }).backlog()).work).toEqual([]);

    await one.start();
    await clock.settle();
    const kinds = (await one.account().backlog()).work.map((each) => each.kind);
    expect(kinds, "only receipts are still awaited").not.toContain("send");
  });

  it.runIf(isTried)("tells what waits for a later attempt, and for a sender's limit", async () => {
    const { clock, engine } = world();
    const mast = carrier();
    const one = engine(open().connect(), { transports: [mast] });
    const senders = (await one.senders.list()).data;
    const id = senders.find(({ channels }) => channels.includes("sms"))?.id ?? "";
    await one.senders.update(id, { messages_per_second: 1 });
    await one.start();
    for (let i = 0; i < 4; i++) await one.messages.send({ to: `+1500555100${i}`, body: "Hi" });
    await clock.settle();
    const { work } = await one.account().backlog();
    const sending = work.find((each) => each.kind === "send");
    expect(sending).toMatchObject({ due: 0, oldest_due_at: null });
    expect(sending?.later).toBeGreaterThan(0);
  });

  it("counts messages of all classes, also those that wait for a sender of any name", async () => {
    const { clock, engine } = world();
    const one = engine(open().connect());
    for (const address of ["+15550000001", "SHOP", "shop"]) {
      await one.senders.create({
        address,
        channels: ["sms"],
        transport: "sandbox",
        messages_per_second: 1,
      });
    }
    const drafts = ["+15550000001", "SHOP", "shop", "+15005559999"].flatMap((from, s) =>
      (["transactional", "marketing"] as const).map((category, c) => ({
        to: `+15005552${s}${c}0`,
        body: "Hi",
        from,
        category,
      })),
    );
    for (const draft of drafts) await one.messages.send(draft);
    await one.messages.batch({
      messages: drafts.map(({ to, ...draft }) => ({ to: to.replace(/0$/, "1"), ...draft })),
    });
    const counted = async (): Promise<unknown> =>
      (await one.account().backlog()).work.find(({ kind }) => kind === "send");
    expect(await counted()).toMatchObject({ due: 16, later: 0 });
    await one.start();
    await clock.settle();
    // Each of the three limited senders has sent one of four, and the other sender all.
    expect(await counted()).toMatchObject({ due: 0, later: 9, running: 0 });
  });

  it.runIf(isTried)("tells what a carrier has not answered yet", async () => {
    const { clock, started } = world();
    const silentLine = over(carrier(), { send: () => new Promise<never>(() => {}) });
    const one = await started(open().connect(), { transports: [silentLine] });
    await one.messages.send({ to: "+15005551001", body: "Hi" });
    await clock.settle();
    const sending = (await one.account().backlog()).work.find(({ kind }) => kind === "send");
    expect(sending).toMatchObject({ due: 0, later: 0, running: 1 });
  });

  it.runIf(isTried)("has the webhooks that lag, with their oldest waiting delivery", async () => {
    const { clock, engine } = world();
    const one = engine(open().connect(), { http: { client: httpClient() } });
    const hook = { url: "https://shop.example/hooks", events: ["contact.created"] as const };
    const { id } = await one.webhooks.create({ ...hook, events: [...hook.events] });
    await one.webhooks.create({ ...hook, events: ["webhook.disabled"] });
    expect((await one.account().backlog()).webhooks).toEqual([]);
    const oldest_created_at = new Date(clock.now()).toISOString();
    await one.contacts.create({ name: "Ann" });
    clock.step(1_000);
    await one.contacts.create({ name: "Bob" });
    const lagging = { webhook_id: id, status: "enabled", oldest_created_at };
    expect((await one.account().backlog()).webhooks).toMatchObject([lagging]);
    await one.webhooks.update(id, { status: "paused" });
    expect((await one.account().backlog()).webhooks).toMatchObject([
      { ...lagging, status: "paused", next_attempt_at: null },
    ]);
  });
});
