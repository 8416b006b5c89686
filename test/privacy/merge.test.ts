import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { contacts } from "../../src/contacts/rows.ts";
import { TidingsError } from "../../src/kernel/errors.ts";
import { messages } from "../../src/messages/rows.ts";
import type { Index } from "../../src/ports/collection.ts";
import type { Write } from "../../src/ports/storage.ts";
import { jobs } from "../../src/queue/jobs/rows.ts";
import { call, jsonOf } from "../api/call.ts";
import { addressesOf } from "../contacts/helpers.ts";
import { carrier } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { outcome } from "../support/outcome.ts";
import { all, everyEvent } from "../support/pages.ts";
import { mortal, withGroups } from "../support/storage/groups.ts";
import { readingByIndex } from "../support/storage/reading-by-index.ts";
import { rowsOf } from "../support/storage/rows.ts";
import { lightStorages, storages, type StorageCase } from "../support/storage/storages.ts";

const [ann, bob, cem] = ["+4915112345671", "+4915112345672", "+4915112345673"] as const;

const byType = (a: { readonly type: string }, b: { readonly type: string }): number =>
  a.type < b.type ? -1 : 1;

function opened({ open }: StorageCase) {
  const { clock, engine, started } = world();
  const ground = open();
  const line = carrier();
  const one = engine(ground.connect(), { transports: [line] });
  return { clock, engine, started, ground, line, one };
}

/** Ann, who is to survive, and Bob. Each has written once, Bob later. */
async function annAndBob(place: StorageCase) {
  const made = opened(place);
  const { one, clock } = made;
  await one.start();
  const survivor = await one.contacts.create({
    phone: ann,
    name: "Ann",
    labels: ["a"],
    attributes: { x: "1", y: "2" },
  });
  const other = await one.contacts.create({
    phone: bob,
    name: "Bob",
    email: "bob@example.org",
    labels: ["b", "a"],
    attributes: { y: "3", z: "4" },
  });
  const first = await one.sandbox.inbound({ from: ann, body: "from Ann" });
  await clock.advance(1_000);
  const second = await one.sandbox.inbound({ from: bob, body: "from Bob" });
  return { ...made, survivor, other, first, second };
}

describe.each(storages)("a merge on $name", (place) => {
  it("joins the facts of both contacts and empties the merged one", async () => {
    const { one, survivor, other, second } = await annAndBob(place);
    const merged = await one.contacts.merge(survivor.id, other.id);
    expect(merged).toMatchObject({
      id: survivor.id,
      name: "Ann",
      phone: ann,
      email: "bob@example.org",
      labels: ["a", "b"],
      attributes: { x: "1", y: "2", z: "4" },
      last_message_at: second.created_at,
    });
    expect(addressesOf(merged)).toEqual([ann, bob]);
    expect(await one.contacts.get(other.id)).toMatchObject({
      id: other.id,
      merged_into: survivor.id,
      name: null,
      phone: null,
      email: null,
      labels: [],
      attributes: {},
      identities: [],
      last_message_at: null,
    });
    expect((await one.contacts.list()).data.map(({ id }) => id)).toEqual([survivor.id]);
    const labelled = await one.contacts.list({ label: "b" });
    expect(labelled.data.map(({ id }) => id)).toEqual([survivor.id]);
    const told = (await everyEvent(one)).slice(-2);
    expect(told.map(({ type }) => type)).toEqual(["conversation.closed", "contact.updated"]);
    expect(told.at(-1)?.data).toEqual({ contact: merged });
  });

  it("moves messages, conversations and observations, which both ids then list", async () => {
    const { one, survivor, other, first, second } = await annAndBob(place);
    const { contacts } = one;
    await contacts.addObservation(other.id, { content: "likes tea", kind: "taste" });
    await contacts.merge(survivor.id, other.id);
    for (const id of [survivor.id, other.id]) {
      const { data } = await contacts.messages(id);
      expect(data.map((message) => [message.id, message.contact_id, message.author.id])).toEqual([
        [second.id, survivor.id, survivor.id],
        [first.id, survivor.id, survivor.id],
      ]);
      const threads = (await contacts.conversations(id)).data;
      expect(threads.map((thread) => [thread.id, thread.status, thread.contact.id])).toEqual([
        [second.conversation_id, "closed", survivor.id],
        [first.conversation_id, "open", survivor.id],
      ]);
      expect((await contacts.observations(id)).data).toMatchObject([
        { contact_id: survivor.id, content: "likes tea" },
      ]);
    }
  });

  it("makes both numbers one conversation, and each id sends to the survivor", async () => {
    const { one, survivor, other, first } = await annAndBob(place);
    await one.contacts.merge(survivor.id, other.id);
    expect(await one.sandbox.inbound({ from: bob, body: "Bob again" })).toMatchObject({
      contact_id: survivor.id,
      conversation_id: first.conversation_id,
    });
    expect(await one.messages.send({ to: other.id, body: "hello" })).toMatchObject({
      to: ann,
      contact_id: survivor.id,
    });
  });

  it("has the result that its preview showed, and a later preview closes nothing", async () => {
    const { one, survivor, other, second } = await annAndBob(place);
    const { contacts } = one;
    const preview = await contacts.previewMerge(survivor.id, other.id);
    const merged = await contacts.merge(survivor.id, other.id);
    const { updated_at } = preview.contact;
    expect({ ...merged, updated_at }).toEqual(preview.contact);
    expect(preview.closes.map(({ id, status, contact }) => [id, status, contact.id])).toEqual([
      [second.conversation_id, "open", other.id],
    ]);
    const again = { contact: merged, closes: [] };
    expect(await contacts.previewMerge(survivor.id, other.id)).toEqual(again);
  });
});

describe.each(lightStorages)("a merge on $name", (place) => {
  it("leaves the authors of messages to the merged contact as they are", async () => {
    const { one } = opened(place);
    const survivor = await one.contacts.create({ phone: ann });
    const { conversation_id, contact_id } = await one.sandbox.inbound({ from: bob, body: "Hello" });
    await one.conversations.reply(conversation_id, { body: "Hi", author_id: "eve" });
    await one.contacts.merge(survivor.id, contact_id);
    const { data } = await one.contacts.messages(survivor.id);
    expect(data.map(({ author }) => author).toSorted(byType)).toEqual([
      { type: "contact", id: survivor.id },
      { type: "human", id: "eve" },
    ]);
  });

  it("lets the contact wait since the message of the conversation that it closes", async () => {
    const { clock, one } = opened(place);
    const kept = await one.sandbox.inbound({ from: ann, body: "Hello" });
    await one.conversations.assign(kept.conversation_id, { type: "human", id: "eve" });
    await one.conversations.reply(kept.conversation_id, { body: "Hi", author_id: "eve" });
    await clock.advance(60_000);
    const closed = await one.sandbox.inbound({ from: bob, body: "Is anybody there?" });
    const { waiting_since } = await one.conversations.get(closed.conversation_id);
    await clock.advance(60_000);
    await one.contacts.merge(kept.contact_id, closed.contact_id);
    expect(await one.conversations.get(kept.conversation_id)).toMatchObject({ waiting_since });
    expect(waiting_since).toBe(new Date(clock.now() - 60_000).toISOString());
  });

  it("lists the addresses in the order in which the preview does", async () => {
    const { contacts, webchat } = opened(place).one;
    const survivor = await contacts.create({ phone: cem });
    const other = await contacts.create({ phone: bob });
    for (const { id } of [survivor, other]) await webchat.open({ contact_id: id });
    const { contact } = await contacts.previewMerge(survivor.id, other.id);
    const { identities } = await contacts.merge(survivor.id, other.id);
    expect(contact.identities).toEqual(identities);
    expect(identities.map(({ medium }) => medium)).toEqual(["text", "text", "webchat", "webchat"]);
  });

  it("counts the merged contact's messages in the survivor's sentiment, also unscored ones", async () => {
    const { clock, engine } = world();
    const ground = place.open();
    const wired = { sentiment: { score: () => 0.5 } };
    const one = engine(ground.connect(), wired);
    const { id: survivor } = await one.contacts.create({ phone: ann });
    for (const body of ["good", "very good"]) await one.sandbox.inbound({ from: bob, body });
    const [other] = (await one.contacts.list({ phone: bob })).data;
    await one.contacts.merge(survivor, other?.id ?? "");
    await one.start();
    await clock.advance(1_000);
    const { current, messages } = await one.contacts.sentiment(survivor);
    expect([current?.label, messages.map(({ score }) => score)]).toEqual(["positive", [0.5, 0.5]]);
  });

  it("counts a message in the survivor's sentiment that is scored before the history has moved", async () => {
    const { clock, engine, started } = world();
    const ground = place.open();
    const wired = { sentiment: { score: () => 0.5 } };
    const { storage, dieAfter } = mortal(ground.connect());
    const dying = engine(storage, wired);
    const { contact_id: survivor } = await dying.sandbox.inbound({ from: ann, body: "good" });
    const { contact_id: other } = await dying.sandbox.inbound({ from: bob, body: "very good" });
    dieAfter(1);
    expect(await outcome(dying.contacts.merge(survivor, other))).toBe("storage_unavailable");
    const one = await started(ground.connect(), wired);
    await clock.advance(120_000);
    const { current, messages } = await one.contacts.sentiment(survivor);
    expect([current?.label, messages.map(({ score }) => score)]).toEqual(["positive", [0.5, 0.5]]);
    expect((await one.contacts.get(other)).sentiment).toBeNull();
  });

  it("keeps the merged contact's open conversation if the survivor has none", async () => {
    const { one } = opened(place);
    const { contacts, sandbox } = one;
    const { id } = await contacts.create({ name: "Ann" });
    const { contact_id, conversation_id } = await sandbox.inbound({ from: bob, body: "hello" });
    expect((await contacts.previewMerge(id, contact_id)).closes).toEqual([]);
    expect(await contacts.merge(id, contact_id)).toMatchObject({ phone: bob, name: "Ann" });
    expect(await sandbox.inbound({ from: bob, body: "again" })).toMatchObject({
      contact_id: id,
      conversation_id,
    });
  });

  it("sends queued and scheduled messages to their original number", async () => {
    const { clock, one, line } = opened(place);
    const { contacts, messages } = one;
    const [survivor, other] = [
      await contacts.create({ phone: ann }),
      await contacts.create({ phone: bob }),
    ];
    await messages.send({ to: ann, body: "to Ann" });
    await messages.send({ to: bob, body: "queued for Bob" });
    const send_at = new Date(clock.now() + 60_000).toISOString();
    await messages.send({ to: bob, body: "later for Bob", send_at });
    await contacts.merge(survivor.id, other.id);
    await one.start();
    await clock.advance(120_000);
    expect(line.calls.map(({ message }) => `${message.to} ${message.body}`).toSorted()).toEqual([
      `${ann} to Ann`,
      `${bob} later for Bob`,
      `${bob} queued for Bob`,
    ]);
  });

  it("does not interrupt a reader who pages through the merged contact's history", async () => {
    const { one } = opened(place);
    await one.start();
    const { contacts, sandbox } = one;
    const survivor = await contacts.create({ phone: ann });
    const other = await contacts.create({ phone: bob });
    for (const content of ["likes tea", "likes cake"]) {
      await sandbox.inbound({ from: bob, body: content });
      await contacts.addObservation(other.id, { content, kind: "taste" });
    }
    const messages = await contacts.messages(other.id, { limit: 1 });
    const observations = await contacts.observations(other.id, { limit: 1 });
    await contacts.merge(survivor.id, other.id);
    const after = ({ next_cursor }: { next_cursor: string | null }) => ({
      cursor: next_cursor ?? expect.fail("there is no second page"),
    });
    const { data: said } = await contacts.messages(other.id, after(messages));
    expect(said.map(({ body }) => body)).toEqual(["likes tea"]);
    const { data: observed } = await contacts.observations(other.id, after(observations));
    expect(observed.map(({ content }) => content)).toEqual(["likes tea"]);
  });

  it("leaves no chains of merged contacts", async () => {
    const { contacts } = opened(place).one;
    const [a, b, c, d] = await Promise.all(
      ["a", "b", "c", "d"].map((name) => contacts.create({ name })),
    );
    if (!a || !b || !c || !d) throw new Error("four were made");
    await contacts.merge(c.id, d.id);
    await contacts.merge(b.id, c.id);
    await contacts.merge(a.id, b.id);
    for (const { id } of [b, c, d]) {
      expect(await contacts.get(id)).toMatchObject({ merged_into: a.id });
    }
  });

  it("rejects invalid merges, and a repeated merge has no further effect", async () => {
    const { one } = opened(place);
    const { contacts } = one;
    const [a, b, c] = await Promise.all([ann, bob, cem].map((phone) => contacts.create({ phone })));
    if (!a || !b || !c) throw new Error("three were made");
    const refused = (work: Promise<unknown>) => work.catch((error: unknown) => error);
    const itself = {
      code: "validation_failed",
      errors: [{ pointer: "/contact_id", code: "itself" }],
    };
    expect(await refused(contacts.merge(a.id, a.id))).toMatchObject(itself);
    expect(await refused(contacts.previewMerge(a.id, a.id))).toMatchObject(itself);
    const { secret } = await one.apiKeys.create({ name: "desk" });
    const path = `/v1/contacts/${a.id}/merge-preview?contact_id=${a.id}`;
    expect(jsonOf(await call(one.api, { path, key: secret }))).toMatchObject({
      code: "validation_failed",
      detail: "contact_id: must be another contact",
      errors: [{ parameter: "contact_id", code: "itself", message: "must be another contact" }],
    });
    expect(await outcome(contacts.merge("ct_nobody", a.id))).toBe("not_found");
    const unknown = {
      code: "validation_failed",
      errors: [{ pointer: "/contact_id", code: "unknown_contact" }],
    };
    expect(await refused(contacts.merge(a.id, "ct_nobody"))).toMatchObject(unknown);

    const merged = await contacts.merge(a.id, b.id);
    expect(await contacts.merge(a.id, b.id)).toEqual(merged);
    const isNow = { code: "conflict", conflictingId: a.id };
    expect(await refused(contacts.merge(c.id, b.id))).toMatchObject(isNow);
    expect(await refused(contacts.previewMerge(c.id, b.id))).toMatchObject(isNow);
    expect(await refused(contacts.merge(b.id, c.id))).toMatchObject(isNow);
    expect(await refused(contacts.update(b.id, { name: "B" }))).toMatchObject(isNow);
    expect(await refused(contacts.erase(b.id))).toMatchObject(isNow);
    expect(await refused(contacts.addObservation(b.id, { content: "x", kind: "y" }))).toMatchObject(
      isNow,
    );
  });

  it("moves a long history, and another process continues after a crash", async () => {
    const { clock, engine, started, ground } = opened(place);
    const storage = ground.connect();
    const { storage: own, dieAfter } = mortal(storage);
    const dying = engine(own);
    const [survivor, other] = [
      await dying.contacts.create({ phone: ann }),
      await dying.contacts.create({ phone: bob }),
    ];
    // The crashed process moves 100 messages, and the other one needs two transactions.
    const count = 210;
    for (let i = 0; i < count; i++) await dying.sandbox.inbound({ from: bob, body: `${i}` });
    dieAfter(2);
    expect(await outcome(dying.contacts.merge(survivor.id, other.id))).toBe("storage_unavailable");

    const living = await started(ground.connect());
    expect(await all((page) => living.contacts.messages(survivor.id, page))).toHaveLength(100);
    await clock.advance(120_000);
    const moved = await all((page) => living.contacts.messages(survivor.id, page));
    expect(moved.map(({ body }) => body)).toEqual(
      Array.from({ length: count }, (_, i) => String(count - 1 - i)),
    );
    expect((await rowsOf(storage, jobs)).filter(({ kind }) => kind === "merge")).toEqual([]);
  });

  it("replays its response by key, also after it was cut off", async () => {
    const { engine, ground } = opened(place);
    const storage = ground.connect();
    const { storage: own, dieAfter } = mortal(storage);
    const dying = engine(own);
    const [survivor, other] = [
      await dying.contacts.create({ phone: ann }),
      await dying.contacts.create({ phone: bob }),
    ];
    const key = { idempotencyKey: "once" };
    dieAfter(2);
    expect(await outcome(dying.contacts.merge(survivor.id, other.id, key))).toBe(
      "storage_unavailable",
    );
    const { contacts } = engine(ground.connect());
    const answer = await contacts.merge(survivor.id, other.id, key);
    expect(answer).toMatchObject({ id: survivor.id, phone: ann });
    await contacts.update(survivor.id, { name: "Ann" });
    expect(await contacts.merge(survivor.id, other.id, key)).toEqual(answer);
  });
});

it("a message to a contact that another process merges meanwhile goes to the survivor", async () => {
  const { engine } = world();
  const storage = memory();
  const other = engine(storage);
  const merged = await other.contacts.create({ phone: "+15005550001" });
  const survivor = await other.contacts.create({ phone: "+15005550002" });
  const third = await other.contacts.create({ phone: "+15005550003" });
  let isMerged = false;
  const mergeOnce = async ({ collection }: Index): Promise<void> => {
    if (isMerged || collection !== contacts) return;
    isMerged = true;
    await other.contacts.merge(survivor.id, merged.id);
  };
  const one = engine(readingByIndex(storage, mergeOnce));
  // They share a group, so the contacts may be read before the addresses.
  const [, sent] = await Promise.all([
    one.contacts.update(third.id, { name: "Third" }),
    one.messages.send({ to: merged.id, body: "Hello" }, { idempotencyKey: "k" }),
  ]);
  expect(isMerged).toBe(true);
  expect(sent.contact_id).toBe(survivor.id);
});

it("a queued message is sent while the merged contact's history cannot move to the survivor", async () => {
  const { clock, engine } = world();
  const line = carrier();
  let canMove = false;
  const isMove = (write: Write): boolean =>
    write.kind === "update" &&
    write.collection === messages &&
    write.row["contact_id"] === survivor.id;
  const storage = withGroups(memory(), {
    async commit(writes, group) {
      if (canMove || !writes.some(isMove)) return group.commit(writes);
      await group.abort();
      throw new TidingsError("storage_unavailable", "The disk is full.");
    },
  });
  const one = engine(storage, { transports: [line] });
  const survivor = await one.contacts.create({ phone: ann });
  const other = await one.contacts.create({ phone: bob });
  const { id } = await one.messages.send({ to: bob, body: "Hello" });
  const merged = await outcome(one.contacts.merge(survivor.id, other.id));
  expect(merged).toBe("storage_unavailable");
  await one.start();
  await clock.advance(10_000);
  expect(line.calls.map(({ message }) => message.to)).toEqual([bob]);
  expect((await one.messages.get(id)).contact_id).toBe(other.id);
  canMove = true;
  await clock.advance(600_000);
  expect(await one.messages.get(id)).toMatchObject({ status: "sent", contact_id: survivor.id });
});

it("counts a scheduled message that is sent before the merge has moved its conversation", async () => {
  const { clock, engine, started } = world();
  const ground = memory();
  const { storage, dieAfter } = mortal(ground);
  const dying = engine(storage);
  const other = await dying.contacts.create({ phone: "+15005550001" });
  const send_at = new Date(clock.now() + 30_000).toISOString();
  const { id, conversation_id } = await dying.messages.send({
    to: other.id,
    body: "Soon",
    send_at,
  });
  await dying.conversations.update(conversation_id, { status: "closed" });
  // The message is now in an earlier conversation, which the merge moves later.
  await dying.messages.send({ to: other.id, body: "Hello" });
  const survivor = await dying.contacts.create({ name: "Ann" });
  dieAfter(1);
  expect(await outcome(dying.contacts.merge(survivor.id, other.id))).toBe("storage_unavailable");

  const one = await started(ground);
  await clock.advance(30_000);
  const { status, placed_at } = await one.messages.get(id);
  expect([status, placed_at]).toEqual(["sent", send_at]);
  await clock.advance(60_000);
  expect((await one.contacts.get(survivor.id)).last_message_at).toBe(send_at);
  expect((await one.contacts.get(other.id)).last_message_at).toBeNull();
});
