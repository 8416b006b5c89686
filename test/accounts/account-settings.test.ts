import { describe, expect, it } from "vitest";
import { world } from "../support/engines/world.ts";
import { errorOf } from "../support/outcome.ts";
import { storages } from "../support/storage/storages.ts";

describe.each(storages)("accounts on $name", ({ open }) => {
  it("have their own texts and quiet hours, or null where the engine's options apply", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    const unset = { opt_out_text: null, opt_in_text: null, help_text: null, quiet_hours: null };
    expect(await one.account().get()).toMatchObject(unset);
    const hours = { from: "20:00", to: "08:00" };
    const same = await one.accounts.create({ name: "Unset", time_zone: null, ...unset });
    expect(same.account).toMatchObject({ time_zone: "UTC", ...unset });
    const { account } = await one.accounts.create({
      name: "A",
      help_text: "🥐".repeat(1_600),
      quiet_hours: hours,
    });
    const { id } = account;
    expect(account).toMatchObject({ ...unset, help_text: "🥐".repeat(1_600), quiet_hours: hours });
    const changed = await one.accounts.update(id, { opt_out_text: "A: bye.", help_text: null });
    expect(changed).toEqual({ ...account, opt_out_text: "A: bye.", help_text: null });
    expect(await one.accounts.update(id, { quiet_hours: null })).toMatchObject({
      opt_out_text: "A: bye.",
      quiet_hours: null,
    });
    expect(await one.account(id, { mode: "live" }).get()).toEqual({
      ...changed,
      quiet_hours: null,
    });
    const wrong = one.accounts.update(id, {
      opt_out_text: " ",
      opt_in_text: "a".repeat(1_601),
      help_text: "\0",
      quiet_hours: { from: "8:00", to: "24:00" },
    });
    expect(await errorOf(wrong)).toMatchObject({
      code: "validation_failed",
      errors: [
        { pointer: "/opt_out_text", message: "must not be blank" },
        { pointer: "/opt_in_text", message: "must have at most 1600 characters, got 1601" },
        { pointer: "/help_text", message: "must not contain NUL or half a surrogate pair" },
        { pointer: "/quiet_hours/from", message: expect.stringContaining('"HH:MM"') as string },
        { pointer: "/quiet_hours/to" },
      ],
    });
  });
});
