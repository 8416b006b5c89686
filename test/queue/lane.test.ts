import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AccountId, WebhookId } from "../../src/kernel/ids.ts";
import { jobClasses } from "../../src/queue/jobs/classes.ts";
import {
  decodeJobKey,
  decodeNames,
  encodeJobKey,
  encodeNames,
  type JobName,
} from "../../src/queue/jobs/job-kinds.ts";
import {
  decodeLane,
  encodeLane,
  groupOf,
  limitOf,
  poolOf,
  readyLane,
  type Lane,
} from "../../src/queue/jobs/lane.ts";
import { anyCharacter } from "../support/any-character.ts";

/** Arbitrary text with many characters that need escaping. */
const name = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.string({ unit: fc.constantFrom("/", "%", "2", "F", "5", " ", "~", "@", ":", "slow", "a") }),
);
const id = <I extends string>(prefix: string): fc.Arbitrary<I> =>
  name.map((text) => `${prefix}_${text}` as I);
const scope = {
  account_id: id<AccountId>("acct"),
  mode: fc.constantFrom("live" as const, "sandbox" as const),
};
const slow = fc.boolean();
const jobClass = fc.constantFrom(...jobClasses);
const kind = <K extends string>(...kinds: K[]): fc.Arbitrary<K> => fc.constantFrom(...kinds);

const lanes: fc.Arbitrary<Lane> = fc.oneof(
  fc.record({
    kind: kind("send"),
    slow,
    remote: name,
    ...scope,
    waiting_for: fc.option(name.filter((address) => address !== "")),
    class: jobClass,
  }),
  fc.record({ kind: kind("follow-up", "score"), slow, remote: name, ...scope }),
  fc.record({ kind: kind("consume"), slow, consumer: name }),
  fc.record({ kind: kind("release"), slow, class: jobClass }),
  fc.record({ kind: kind("deliver"), slow, webhook_id: id<WebhookId>("wh") }),
  fc.record({ kind: kind("turn"), slow, ...scope, class: jobClass }),
  fc.record({
    kind: kind("throttle", "early-receipt", "recover", "discard", "wake", "reap"),
    slow,
  }),
  fc.record({ kind: kind("queue-timeout", "merge", "erase"), slow }),
);

const conversation = fc.record({ conversation_id: id<`conv_${string}`>("conv") });
const webhook = fc.record({ webhook_id: id<WebhookId>("wh") });
const contact = fc.record({ contact_id: id<`ct_${string}`>("ct") });
const names: fc.Arbitrary<JobName> = fc.oneof(
  fc.record({ kind: kind("send", "turn", "queue-timeout", "wake"), key: conversation }),
  fc.record({
    kind: kind("release"),
    key: fc.record({ message_id: id<`msg_${string}`>("msg") }),
  }),
  fc.record({ kind: kind("throttle"), key: fc.record({ ...scope, address: name }) }),
  fc.record({
    kind: kind("follow-up"),
    key: fc.record({ attempt_id: id<`att_${string}`>("att") }),
  }),
  fc.record({
    kind: kind("early-receipt"),
    key: fc.record({ transport: name, provider_message_id: name }),
  }),
  fc.record({ kind: kind("consume"), key: fc.record({ consumer: name, key: name }) }),
  fc.record({ kind: kind("deliver", "recover", "discard"), key: webhook }),
  fc.record({ kind: kind("score", "merge", "erase"), key: contact }),
  fc.record({ kind: kind("reap"), key: fc.constant({ what: "expired" as const }) }),
);

describe("a stored text", () => {
  it("decodes to its names", () => {
    fc.assert(
      fc.property(fc.array(name, { minLength: 1 }), (all) => {
        expect(decodeNames(encodeNames(all))).toEqual(all);
      }),
    );
  });

  it("decodes to its lane", () => {
    fc.assert(
      fc.property(lanes, (lane) => {
        expect(decodeLane(encodeLane(lane))).toEqual(lane);
      }),
      { numRuns: 1_000 },
    );
  });

  it("begins with the limit of its lane, and with no other", () => {
    fc.assert(
      fc.property(lanes, lanes, (one, other) => {
        const limit = limitOf(one);
        expect(limit !== undefined, "Jobs that call a remote, and consumers, have a limit.").toBe(
          "remote" in one || one.kind === "consume",
        );
        if (limit === undefined) return;
        expect(encodeLane(one).startsWith(limit), "A lane's text begins with its limit.").toBe(
          true,
        );
        expect(
          encodeLane(other).startsWith(limit),
          "Only the texts of lanes under a limit begin with it.",
        ).toBe(limitOf(other) === limit);
      }),
      { numRuns: 1_000 },
    );
  });

  it("decodes to its job key", () => {
    fc.assert(
      fc.property(names, (job) => {
        expect(decodeJobKey(job.kind, encodeJobKey(job))).toEqual(job.key);
      }),
      { numRuns: 1_000 },
    );
  });

  it("is the id itself if the id is the whole key", () => {
    const key = { conversation_id: "conv_01" } as const;
    expect(encodeJobKey({ kind: "send", key })).toBe("conv_01");
  });
});

describe("a lane", () => {
  it("is in one group with those that differ only in their class, and with no others", () => {
    fc.assert(
      fc.property(lanes, jobClass, lanes, (lane, other, third) => {
        const sibling = "class" in lane ? { ...lane, class: other } : { ...lane };
        expect(groupOf(sibling), "Lanes of all classes are in one group.").toBe(groupOf(lane));
        const isSibling = isDeepStrictEqual({ ...third, class: "" }, { ...lane, class: "" });
        expect(groupOf(third) === groupOf(lane), "Other lanes are not.").toBe(isSibling);
      }),
    );
  });

  it("of a kind that only a newer version has can be read, without its fields", () => {
    expect(decodeLane("translate/slow/acct_1")).toEqual({ kind: "translate", slow: true });
  });

  it("that becomes ready loses its delay and keeps all other fields", () => {
    fc.assert(
      fc.property(lanes, slow, (lane, isSlow) => {
        const ready = readyLane(lane, { slow: isSlow });
        const waiting = lane.kind === "send" ? { waiting_for: null } : {};
        expect(ready).toEqual({ ...lane, slow: isSlow, ...waiting });
      }),
    );
  });

  it("has a pool of its kind if its jobs mostly wait for remotes", () => {
    const scoped = { account_id: "acct_1", mode: "live" } as const;
    const lane = { kind: "deliver", webhook_id: "wh_1" } as const;
    expect(poolOf({ ...lane, slow: false })).toBe("webhooks");
    expect(poolOf({ ...lane, slow: true })).toBe("slow_webhooks");
    expect(poolOf({ kind: "turn", slow: true })).toBe("turns");
    const send = { kind: "send", slow: true, remote: "turn/slow", ...scoped } as const;
    expect(poolOf({ ...send })).toBe("work");
  });
});
