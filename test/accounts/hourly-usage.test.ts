import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { sandbox } from "../../adapters/transport/sandbox/index.ts";
import { boundOf, deliveryBounds } from "../../src/accounts/usage/count-usage.ts";
import {
  errorCountsSchema,
  hourlyUsageSchema,
  usageSchema,
} from "../../src/accounts/usage/usage-types.ts";
import type { ApiResponse } from "../../src/api/http.ts";
import { call, jsonOf } from "../api/call.ts";
import { fastForward } from "../support/engines/fast-forward.ts";
import { world } from "../support/engines/world.ts";
import { lightStorages } from "../support/storage/storages.ts";

const hourMs = 3_600_000;

it("a delivery counts under the lowest bound that is not below its time", () => {
  fc.assert(
    fc.property(fc.integer({ min: -5_000, max: 100_000_000 }), (ms) => {
      const isWithin = (place: number): boolean =>
        ms <= (deliveryBounds[place] ?? Infinity) * 1_000;
      expect(
        isWithin(boundOf(ms)),
        `A delivery is within the bound that it counts under: ${boundOf(ms)}.`,
      ).toBe(true);
      expect(
        boundOf(ms) === 0 || !isWithin(boundOf(ms) - 1),
        `No lower bound than ${boundOf(ms)} holds the delivery.`,
      ).toBe(true);
    }),
  );
});

describe.each(lightStorages)("usage by hour on $name", ({ open }) => {
  it("counts what was accepted, delivered, failed and received, and how long deliveries took", async () => {
    const { clock, engine } = world();
    const one = engine(open().connect(), { transports: [sandbox()] });
    clock.step(hourMs - 120_000);
    await one.start();
    const begin = new Date(clock.now() - (hourMs - 120_000)).toISOString();
    const send = (to: string, more: object = {}) => one.messages.send({ to, body: "Hi", ...more });
    await send("+15005550001");
    await send("+15005550002");
    await send("+15005550005");
    await one.sandbox.inbound({ from: "+15005551001", body: "Hi" });
    const send_at = new Date(clock.now() + 180_000).toISOString();
    await send("+15005550001", { send_at });
    await clock.advance(60_000);
    const first = await one.account().usageByHour();
    expect(first.data).toMatchObject([
      { hour: begin, channel: "sms", accepted: 4, delivered: 2, failed: 1, received: 1 },
    ]);
    const half = first.delivery_bounds.indexOf(30);
    const [{ delivery_times } = { delivery_times: [] as number[] }] = first.data;
    expect(delivery_times).toHaveLength(first.delivery_bounds.length + 1);
    expect(delivery_times[half], "the number that is delivered after 30 s").toBe(1);
    expect(delivery_times.reduce((sum, each) => sum + each, 0)).toBe(2);

    await clock.advance(180_000);
    const { data } = await one.account().usageByHour({ channel: "sms" });
    expect(data.map((each) => [each.accepted, each.delivered])).toEqual([
      [4, 2],
      [0, 1],
    ]);
    expect(data[1]?.delivery_times, "from the time that it was scheduled for").toEqual(
      delivery_times.with(half, 0),
    );
    expect((await one.account().usageByHour({ channel: "mms" })).data).toEqual([]);
    expect((await one.account().usageByHour({ from: begin, to: begin })).data).toEqual(first.data);

    const errors = await one.account().errorCounts();
    expect(errors.data).toMatchObject([{ sender: "+15005559999", messages: 1 }]);
    const failed = (await one.messages.list({ status: "failed" })).data;
    expect(errors.data.map(({ code }) => code)).toEqual(failed.map(({ error }) => error?.code));
  });

  it("forgets the counts of hours and errors after 92 days, and keeps those of days", async () => {
    const { clock, started } = world();
    const storage = open().connect();
    const one = await started(storage, { transports: [sandbox()] });
    const other = (await one.accounts.create({ name: "Other" })).account.id;
    const send = async (): Promise<void> => {
      for (const own of [one.account(), one.account(other)]) {
        await own.messages.send({ to: "+15005550001", body: "Hi" });
        await own.messages.send({ to: "+15005550005", body: "Hi" });
      }
      await clock.advance(60_000);
    };
    await send();
    const first = clock.now();
    clock.step(92 * 24 * hourMs - 3 * hourMs);
    await fastForward(clock, storage, hourMs);
    const of = async (time: number): Promise<readonly number[]> => {
      const at = new Date(time).toISOString();
      const days = { from: at.slice(0, 10), to: at.slice(0, 10) };
      const counted = [one.account(), one.account(other)].map(async (own) => {
        const [hours, errors, usage] = await Promise.all([
          own.usageByHour({ from: at, to: at }),
          own.errorCounts(days),
          own.usage(days),
        ]);
        return [hours.data.length, errors.data.length, Math.sign(usage.data.length)];
      });
      return (await Promise.all(counted)).flat();
    };
    expect(await of(first), "shortly before").toEqual([1, 1, 1, 1, 1, 1]);
    await send();
    const second = clock.now();
    clock.step(49 * hourMs);
    // A removal every ten minutes.
    await fastForward(clock, storage, hourMs);
    expect(await of(first), "after 92 days").toEqual([0, 0, 1, 0, 0, 1]);
    expect(await of(second), "newer counts").toEqual([1, 1, 1, 1, 1, 1]);
  });

  it("shows nothing of another account, and refuses ranges that are too long or backwards", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    await one.messages.send({ to: "+15005551001", body: "Hi" });
    const { account, key } = await one.accounts.create({ name: "other" });
    expect((await one.account(account.id).usageByHour()).data).toEqual([]);
    const ask = (query: string): Promise<ApiResponse> =>
      call(one.api, { path: `/v1/usage/${query}`, key: key.secret });
    const status = async (query: string): Promise<number> => (await ask(query)).status;
    expect(await status("hours")).toBe(200);
    expect(await status("errors")).toBe(200);
    const day = "T00:00:00Z";
    expect(await status(`hours?from=2026-01-01${day}&to=2026-02-01${day}`)).toBe(200);
    expect(await status(`hours?from=2026-01-01${day}&to=2026-02-01T00:00:01Z`)).toBe(422);
    expect(jsonOf(await ask(`hours?from=2026-01-02${day}&to=2026-01-01${day}`))).toMatchObject({
      status: 422,
      errors: [{ parameter: "from", code: "order" }],
    });
    expect(await status("errors?from=2026-01-01&to=2026-01-31")).toBe(200);
    expect(await status("errors?from=2026-01-01&to=2026-02-01")).toBe(422);
  });
});

it("counts begin in the year 1 at the earliest, so that responses can show their times", async () => {
  const { engine } = world();
  const account = engine(memory()).account();
  const day = { to: "0001-01-01" };
  const hour = { to: "0001-01-01T00:00:00Z" };
  expect(usageSchema.parse(await account.usage(day)).data).toEqual([]);
  expect(errorCountsSchema.parse(await account.errorCounts(day)).data).toEqual([]);
  expect(hourlyUsageSchema.parse(await account.usageByHour(hour)).data).toEqual([]);
  const refused = { code: "validation_failed", errors: [{ pointer: "/to" }] };
  const before = { to: "0000-12-31" };
  await expect(account.usage(before)).rejects.toMatchObject(refused);
  await expect(account.errorCounts(before)).rejects.toMatchObject(refused);
  const hourBefore = { to: "0001-01-01T00:00:00+00:01" };
  await expect(account.usageByHour(hourBefore)).rejects.toMatchObject(refused);
});
