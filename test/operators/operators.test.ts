import { describe, expect, it } from "vitest";
import { call, jsonOf } from "../api/call.ts";
import { world } from "../support/engines/world.ts";
import { storages } from "../support/storage/storages.ts";

const avatar_url = "https://shop.example/kim.png";

describe.each(storages)("operators on $name", ({ open }) => {
  it("are kept under the host application's own ids, which assignments and notes use", async () => {
    const { engine, clock } = world();
    const one = engine(open().connect());
    const id = "kim/3 @shop.example";
    const added = await one.operators.save(id, { name: "Kim", avatar_url });
    expect(added).toMatchObject({ id, name: "Kim", avatar_url });
    clock.step(1_000);
    expect(await one.operators.save(id, { name: "Kim", avatar_url }), "nothing changed").toEqual(
      added,
    );
    const faceless = await one.operators.save(id, { name: "Kim" });
    expect(faceless).toMatchObject({ name: "Kim", avatar_url: null });
    expect(faceless.updated_at > faceless.created_at).toBe(true);
    expect(await one.operators.save(id, { name: "Kim B." })).toMatchObject({ name: "Kim B." });
    await one.operators.save("ann", { name: "<b>Ann</b>" });
    expect((await one.operators.list()).data.map((each) => each.id)).toEqual(["ann", id]);

    const { id: conversation } = await one.conversations.open({ to: "+15005551001" });
    await one.conversations.assign(conversation, { type: "human", id });
    await one.operators.remove(id);
    await expect(one.operators.get(id)).rejects.toMatchObject({ code: "not_found" });
    await expect(one.operators.remove(id)).rejects.toMatchObject({ code: "not_found" });
    expect((await one.conversations.get(conversation)).assignee).toEqual({ type: "human", id });
  });

  it("belong to one account and mode, and need a scope of their own to change", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    await one.operators.save("kim", { name: "Kim" });
    const { account } = await one.accounts.create({ name: "other" });
    expect((await one.account(account.id).operators.list()).data).toEqual([]);
    const own = (await one.account().get()).id;
    expect((await one.account(own, { mode: "live" }).operators.list()).data).toEqual([]);
    const scopes = ["conversations:read", "conversations:write"] as const;
    const { secret } = await one.apiKeys.create({ name: "inbox", scopes: [...scopes] });
    const key = secret;
    const path = `/v1/operators/${encodeURIComponent("kim")}`;
    expect(jsonOf(await call(one.api, { path, key }))).toMatchObject({ id: "kim", name: "Kim" });
    const change = { method: "PUT", path, key, body: { name: "Boss" } };
    expect((await call(one.api, change)).status).toBe(403);
  });

  it.each([
    [".", "cannot be a part"],
    ["..", "cannot be a part"],
    [" ", "blank"],
  ])("have an id that the path of a request can name, not %j", async (id, error) => {
    const { engine } = world();
    const one = engine(open().connect());
    await expect(one.operators.save(id, { name: "Kim" })).rejects.toMatchObject({
      code: "validation_failed",
      errors: [{ pointer: "/id", message: expect.stringContaining(error) }],
    });
  });

  it("are read by the path of their id, whatever it is", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    const { secret } = await one.apiKeys.create({ name: "inbox", scopes: ["conversations:read"] });
    for (const id of ["...", ".a", "a/../b", "%2e%2e", "?#", "\\", "é\u0300 \u{1f600}"]) {
      await one.operators.save(id, { name: "Kim" });
      const path = `/v1/operators/${encodeURIComponent(id)}`;
      const shown = await call(one.api, { path, key: secret });
      expect([id, jsonOf(shown)]).toEqual([id, expect.objectContaining({ id })]);
    }
  });

  it("have a name, and a picture only on the web", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    const refused = [
      { name: " " },
      { name: "x".repeat(201) },
      { name: "Kim", avatar_url: "javascript:alert(1)" },
      { name: "Kim", avatar_url: "data:image/png;base64,AAAA" },
    ];
    for (const input of refused) {
      await expect(one.operators.save("kim", input)).rejects.toMatchObject({
        code: "validation_failed",
      });
    }
    expect((await one.operators.list()).data).toEqual([]);
  });
});
