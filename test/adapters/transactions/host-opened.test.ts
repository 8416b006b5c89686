import { describe, expect, it } from "vitest";
import { world } from "../../support/engines/world.ts";
import { hosts, note } from "./hosts.ts";

const hello = { to: "+15005550001", body: "Hello" };

describe.each(hosts)("a transaction that the host application opened on $name", ({ open }) => {
  async function opened() {
    const host = await open();
    const { clock, engine, started } = world();
    const one = engine(host.connect());
    const bodies = async () =>
      (await one.messages.list()).data.map(({ body }) => body).toReversed();
    await bodies();
    return { host, clock, started, one, bodies };
  }

  it("leaves no trace when it is rolled back, and its messages are sent by a started engine when it is committed", async () => {
    const { host, clock, started, one, bodies } = await opened();
    await started(host.connect());
    const ids: string[] = [];
    for (const how of ["ROLLBACK", "COMMIT"] as const) {
      const { tx, end } = await host.begin();
      await host.run(tx, note(how));
      ids.push(
        (await one.messages.send({ ...hello, body: how }, { tx, idempotencyKey: "order-17" })).id,
      );
      await end(how);
      await clock.advance(10_000);
    }
    expect([await host.notes(), await bodies()]).toEqual([["COMMIT"], ["COMMIT"]]);
    const [lost = "", kept = ""] = ids;
    expect((await one.messages.get(kept)).status).toBe("sent");
    await expect(one.messages.get(lost)).rejects.toMatchObject({ code: "not_found" });
  });

  it("runs concurrent commands in their order", async () => {
    const { host, one, bodies } = await opened();
    await one.account().get();
    const { tx, end } = await host.begin();
    const texts = Array.from({ length: 20 }, (_, n) => String(n));
    await Promise.all(texts.map((body) => one.messages.send({ ...hello, body }, { tx })));
    await end("COMMIT");
    expect(await bodies()).toEqual(texts);
  });

  it("can hold a new account and its first message", async () => {
    const { host, one } = await opened();
    const ids: string[] = [];
    for (const how of ["ROLLBACK", "COMMIT"] as const) {
      const { tx, end } = await host.begin();
      const { account } = await one.accounts.create({ name: "Bakery" }, { tx });
      ids.push(account.id);
      await one.account(account.id).messages.send(hello, { tx });
      await end(how);
    }
    const [lost = "", kept = ""] = ids;
    await expect(one.account(lost).messages.list()).rejects.toMatchObject({ code: "not_found" });
    expect((await one.account(kept).messages.list()).data).toHaveLength(1);
  });

  it("accepts no command after its end", async () => {
    const { host, one } = await opened();
    const { tx, end } = await host.begin();
    await end("COMMIT");
    await expect(one.messages.send(hello, { tx })).rejects.toMatchObject({
      code: "invalid_option",
    });
  });
});
