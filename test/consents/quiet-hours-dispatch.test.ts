import { describe, expect, it } from "vitest";
import type { EngineOptions } from "../../src/host/options/options.ts";
import { busy, carrier, type Carrier } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { lightStorages } from "../support/storage/storages.ts";

const minute = 60_000;
const day = 86_400_000;
const to = "+15005550101";
const ad = { to, body: "Buy!", category: "marketing" } as const;
const quietHours = { from: "21:00", to: "21:30" };
const iso = (at: number): string => new Date(at).toISOString();

describe.each(lightStorages)("quiet hours on $name", ({ open }) => {
  /** An engine whose clock shows 20:50 in UTC. */
  async function opened(
    options: Partial<EngineOptions> = {},
    line: Carrier = carrier({ receipts: "none" }),
  ) {
    const { clock, engine, log } = world();
    const one = engine(open().connect(), { transports: [line], quietHours, ...options });
    const evening = Math.ceil(clock.now() / day) * day + 20 * 60 * minute + 50 * minute;
    await clock.advance(evening - clock.now());
    await one.start();
    const sent = (): [string, string][] =>
      line.calls.map(({ message, at }) => [message.body, iso(at)]);
    return { clock, one, evening, end: evening + 40 * minute, sent, log };
  }

  it("delay a marketing message until they end, and do not block messages behind it", async () => {
    const { clock, one, evening, end, sent, log } = await opened();
    await clock.advance(15 * minute);
    const { id, expires_at } = await one.messages.send({ ...ad, ttl_seconds: 60 });
    await one.messages.send({ to, body: "Your code is 1234" });
    await clock.settle();
    expect(await one.messages.get(id)).toMatchObject({
      status: "scheduled",
      send_at: iso(end),
      expires_at: iso(Date.parse(expires_at ?? "") + 25 * minute),
    });
    await clock.advance(30 * minute);
    expect(sent()).toEqual([
      ["Your code is 1234", iso(evening + 15 * minute)],
      ["Buy!", iso(end)],
    ]);
    const { data } = await one.messages.timeline(id);
    expect(data.map((each) => (each.type === "transition" ? each.to : each.type))).toEqual([
      "queued",
      "policy",
      "scheduled",
      "queued",
      "attempt",
      "sending",
      "delivered",
    ]);
    expect(data.find(({ type }) => type === "policy")).toMatchObject({
      policy: "quiet_hours",
      verdict: "defer",
      until: iso(end),
      reason: expect.stringContaining("21:00 to 21:30") as unknown,
    });
    expect(log.filter(({ level }) => level === "error")).toEqual([]);
  });

  it.each([
    { timeZone: undefined, name: "UTC", waits: null },
    { timeZone: "Asia/Kolkata", name: "Asia/Kolkata", waits: (5 * 60 + 40) * minute },
  ])("use the contact's time zone, else the account's, else the engine's: $name", async (own) => {
    const { timeZone, name, waits } = own;
    const quietHours = { from: "21:00", to: "08:00" };
    const { clock, one, evening } = await opened({
      quietHours,
      ...(timeZone === undefined ? {} : { timeZone }),
    });
    const { account } = await one.accounts.create({
      name: "Night owls",
      time_zone: "Asia/Kathmandu",
    });
    const owls = one.account(account.id, { mode: "sandbox" });
    expect([account.time_zone, (await one.account().get()).time_zone]).toEqual([
      "Asia/Kathmandu",
      name,
    ]);
    const { id } = await owls.contacts.create({ phone: to, time_zone: "America/New_York" });
    // 20:50 in UTC is 15:50 or 16:50 in New York, 02:35 in Kathmandu and 02:20 in Kolkata.
    const messages = [
      await owls.messages.send({ ...ad, to: id }),
      await owls.messages.send({ ...ad, to: "+15005550102" }),
      await one.messages.send({ ...ad, to: "+15005550103" }),
    ];
    await clock.settle();
    const accounts = [owls, owls, one];
    const shown = await Promise.all(
      messages.map((each, i) => (accounts[i] ?? one).messages.get(each.id)),
    );
    expect(shown.map(({ status, send_at }) => [status, send_at])).toEqual([
      ["delivered", null],
      ["scheduled", iso(evening + (5 * 60 + 25) * minute)],
      waits === null ? ["delivered", null] : ["scheduled", iso(evening + waits)],
    ]);
  });

  it("are shown in a preview, for the time of sending", async () => {
    const { one, evening, end } = await opened();
    const verdicts = (verdict: object) => [
      { policy: "consent", verdict: "allow" },
      { policy: "quiet_hours", ...verdict },
    ];
    expect(await one.messages.preview(ad)).toMatchObject({
      quiet_until: null,
      sendable: true,
      verdicts: verdicts({ verdict: "allow" }),
    });
    const later = { send_at: iso(evening + 20 * minute) };
    expect(await one.messages.preview({ ...ad, ...later })).toMatchObject({
      consent: "allowed",
      quiet_until: iso(end),
      sendable: true,
      verdicts: verdicts({ verdict: "defer", until: iso(end) }),
    });
    expect((await one.messages.preview({ to, body: "Hello", ...later })).quiet_until).toBeNull();
  });

  it("are those of the account, or else the engine's", async () => {
    const { clock, one, end } = await opened();
    await clock.advance(15 * minute);
    const withHours = async (quiet_hours: { from: string; to: string } | null) => {
      const { account } = await one.accounts.create({ name: "Own hours", quiet_hours });
      return one.account(account.id);
    };
    const accounts = [
      one.account(),
      await withHours(null),
      await withHours({ from: "20:00", to: "22:00" }),
      await withHours({ from: "22:00", to: "08:00" }),
      await withHours({ from: "00:00", to: "00:00" }),
    ];
    const ends = [end, end, end + 30 * minute, null, null].map((at) => at && iso(at));
    const previews = await Promise.all(accounts.map(({ messages }) => messages.preview(ad)));
    expect(previews.map(({ quiet_until }) => quiet_until)).toEqual(ends);
    const sent = await Promise.all(
      accounts.map(async ({ messages }) => ({ messages, id: (await messages.send(ad)).id })),
    );
    await clock.settle();
    const now = await Promise.all(sent.map(({ messages, id }) => messages.get(id)));
    expect(now.map(({ send_at }) => send_at)).toEqual(ends);
    expect(now.map(({ status }) => status)).toEqual(
      ends.map((at) => (at === null ? "delivered" : "scheduled")),
    );
  });

  it("of an account need none of the engine, and a change applies when a message is next checked", async () => {
    const { clock, one, evening, end, sent } = await opened({ quietHours: undefined });
    const { account } = await one.accounts.create({ name: "Bakery", quiet_hours: quietHours });
    const bakery = one.account(account.id);
    const setHours = (from: string, to: string) =>
      one.accounts.update(account.id, { quiet_hours: { from, to } });
    await clock.advance(15 * minute);
    const { id } = await bakery.messages.send({ ...ad, body: "Waits" });
    await one.messages.send({ ...ad, body: "Does not wait" });
    await clock.settle();
    await setHours("22:00", "08:00");
    // It keeps its time, although the account would not defer it any more.
    await clock.advance(minute);
    await bakery.messages.send({ ...ad, to: "+15005550102", body: "New" });
    await clock.settle();
    expect(await bakery.messages.get(id)).toMatchObject({ status: "scheduled", send_at: iso(end) });
    await setHours("21:00", "21:45");
    await clock.advance(end - clock.now());
    expect(await bakery.messages.get(id)).toMatchObject({
      status: "scheduled",
      send_at: iso(end + 15 * minute),
    });
    await setHours("00:00", "00:00");
    await bakery.messages.edit(id, { send_at: iso(clock.now()) });
    await clock.settle();
    expect(sent()).toEqual([
      ["Does not wait", iso(evening + 15 * minute)],
      ["New", iso(evening + 16 * minute)],
      ["Waits", iso(end)],
    ]);
  });

  it("delay a message that was rescheduled for a time months after its creation", async () => {
    const { clock, one, end, sent } = await opened();
    const { id } = await one.messages.send({
      ...ad,
      send_at: iso(end + 30 * day),
      ttl_seconds: 600,
    });
    for (const days of [60, 90]) {
      clock.skip(29 * day);
      const send_at = iso(end + days * day - 15 * minute);
      expect((await one.messages.edit(id, { send_at })).status).toBe("scheduled");
    }
    clock.skip(end + 90 * day - 60 * minute - clock.now());
    await clock.advance(60 * minute);
    expect((await one.messages.get(id)).status).toBe("delivered");
    expect(sent()).toEqual([["Buy!", iso(end + 90 * day)]]);
  });

  it("that begin between two attempts keep the attempt count", async () => {
    let tries = 0;
    const line = carrier({
      receipts: "none",
      send: (_, { attempt_id }) =>
        ++tries < 3 ? busy(7 * minute) : { outcome: "accepted", provider_message_id: attempt_id },
    });
    const { clock, one, evening, end } = await opened({}, line);
    const { id } = await one.messages.send(ad);
    await clock.advance(45 * minute);
    const { data } = await one.messages.timeline(id);
    const attempts = data.flatMap((each) =>
      each.type === "attempt" ? [[each.number, each.at]] : [],
    );
    expect(attempts).toEqual([
      [1, iso(evening)],
      [2, iso(evening + 7 * minute)],
      [3, iso(end)],
    ]);
    expect((await one.messages.get(id)).status).toBe("delivered");
  });
});
