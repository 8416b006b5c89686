/** Commands in transactions of the host application that meet conflicts, on PostgreSQL. */
import { describe, expect, it } from "vitest";
import { held } from "../../support/engines/carrier.ts";
import { world } from "../../support/engines/world.ts";
import { over } from "../../support/over.ts";
import { hosts, note } from "./hosts.ts";

const hello = { to: "+15005550001", body: "Hello" };
const { open } = hosts.find(({ name }) => name === "PostgreSQL") ?? expect.fail("no PostgreSQL");

describe("a command in a transaction on PostgreSQL", () => {
  /** An engine whose first `times` commits in a transaction come after another command's edit. */
  async function overtaken(times: number) {
    const host = await open();
    const { engine } = world();
    const other = engine(host.connect());
    const { id } = await other.messages.send({ ...hello, send_at: "2026-01-02T00:00:00Z" });
    const storage = host.connect();
    let commits = 0;
    const meddled = over(storage, {
      host(handle) {
        const group = storage.host?.(handle) ?? expect.fail("no transactions");
        return over(group, {
          async commit(writes) {
            if (commits++ < times) await other.messages.edit(id, { body: `Theirs ${commits}` });
            return group.commit(writes);
          },
        });
      },
    });
    return { one: engine(meddled), host, id };
  }

  it("runs again if another command has changed the same message meanwhile", async () => {
    const { one, host, id } = await overtaken(2);
    await one.transaction(async (tx) => {
      await host.run(tx, note("before"));
      await one.messages.edit(id, { body: "Mine" }, { tx });
      await host.run(tx, note("after"));
    });
    expect(await host.notes()).toEqual(["before", "after"]);
    expect((await one.messages.get(id)).body).toBe("Mine");
  });

  it("fails if others keep changing the message, and the transaction goes on", async () => {
    const { one, host, id } = await overtaken(Infinity);
    await one.transaction(async (tx) => {
      const edited = one.messages.edit(id, { body: "Mine" }, { tx });
      await expect(edited).rejects.toMatchObject({
        code: "storage_contended",
        message: expect.stringContaining("Run the whole transaction again."),
      });
      await host.run(tx, note("after"));
    });
    expect(await host.notes()).toEqual(["after"]);
  });

  it("fails at once if two transactions wait for each other", async () => {
    const storage = (await open()).connect();
    let commits = 0;
    const counted = over(storage, {
      host(handle) {
        const group = storage.host?.(handle) ?? expect.fail("no transactions");
        return over(group, {
          commit(writes) {
            commits++;
            return group.commit(writes);
          },
        });
      },
    });
    const one = world().engine(counted);
    const scheduled = () => one.messages.send({ ...hello, send_at: "2026-01-02T00:00:00Z" });
    const [a, b] = [await scheduled(), await scheduled()];
    const both = held<undefined>();
    let begun = 0;
    const editInOrder = (first: string, second: string) =>
      one.transaction(async (tx) => {
        await one.messages.edit(first, { body: "Mine" }, { tx });
        if (++begun === 2) both.answer(undefined);
        await both.promise;
        await one.messages.edit(second, { body: "Mine" }, { tx });
      });
    const ended = await Promise.allSettled([editInOrder(a.id, b.id), editInOrder(b.id, a.id)]);
    expect(ended.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    // Each of the four edits ran once.
    expect(commits).toBe(4);
  });
});
