import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { identities } from "../../src/contacts/rows.ts";
import { webchatSessions } from "../../src/webchat/rows.ts";
import { world } from "../support/engines/world.ts";
import { overtaken, writesTo } from "../support/storage/groups.ts";
import { rowsOf } from "../support/storage/rows.ts";

const hourMs = 3_600_000;

describe("the return key of a session", () => {
  it("continues the conversation in a later session, also after a merge", async () => {
    const { clock, engine } = world();
    const one = engine(memory());
    const first = await one.webchat.open({ name: "Ann" });
    const return_key = first.return_key;
    await one.webchat.sendAsVisitor(first.id, { body: "Hello" });
    await clock.advance(25 * hourMs);
    const second = await one.webchat.open({ return_key });
    expect(second).toMatchObject({ contact_id: first.contact_id, return_key });
    expect((await one.webchat.messages(second.id)).data.map(({ body }) => body)).toEqual(["Hello"]);

    const survivor = await one.contacts.create({ name: "Ann Smith" });
    await one.contacts.merge(survivor.id, first.contact_id);
    expect((await one.webchat.open({ return_key })).contact_id).toBe(survivor.id);
  });

  it("begins anew when the contact was erased", async () => {
    const { started } = world();
    const one = await started(memory());
    const { contact_id, return_key } = await one.webchat.open();
    await one.contacts.erase(contact_id);
    const later = await one.webchat.open({ return_key });
    expect(later.contact_id).not.toBe(contact_id);
    expect(later.return_key).not.toBe(return_key);
  });

  it("leaves no session behind when the contact is erased just after", async () => {
    const storage = memory();
    const { engine, started } = world();
    const other = await started(storage);
    const { contact_id, return_key } = await other.webchat.open();
    const one = engine(
      overtaken(storage, writesTo(identities, "remove"), () => other.webchat.open({ return_key })),
    );
    await one.contacts.erase(contact_id);
    expect(await rowsOf(storage, webchatSessions)).toEqual([]);
  });

  it("is refused when it is forged, or of another account or mode", async () => {
    const { engine } = world();
    const one = engine(memory());
    const { account } = await one.accounts.create({ name: "Other" });
    const { return_key } = await one.webchat.open();
    const genuine = return_key;
    const [address = "", signature = ""] = genuine.split(".");
    const forged = [
      "",
      genuine.slice(0, -1),
      `${genuine}A`,
      `${Buffer.from("visitor:01").toString("base64url")}.${signature}`,
      `${address}=.${signature}`,
    ];
    for (const key of forged) {
      await expect(one.webchat.open({ return_key: key })).rejects.toMatchObject({
        code: "validation_failed",
        errors: [{ pointer: "/return_key" }],
      });
    }
    const elsewhere = one.account(account.id).webchat;
    await expect(elsewhere.open({ return_key: genuine })).rejects.toMatchObject({
      errors: [{ pointer: "/return_key", code: "invalid_return_key" }],
    });
    await expect(one.webchat.open({ return_key: genuine, name: "Ann" })).rejects.toMatchObject({
      errors: [{ pointer: "/return_key" }],
    });
  });
});
