/** What the document says about the requests to webhooks is true of those that are sent. */
import { Ajv } from "ajv";
import formats from "ajv-formats";
import { expect, test } from "vitest";
import { sentiment } from "../../adapters/sentiment/index.ts";
import { memory } from "../../adapters/storage/memory/index.ts";
import { sandbox } from "../../adapters/transport/sandbox/index.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import { eventTypes } from "../../src/events/types.ts";
import type { Event } from "../../src/webhooks/event-catalog.ts";
import { refund } from "../security/owner.ts";
import { world } from "../support/engines/world.ts";
import { isGenuine, receivers } from "../webhooks/receivers.ts";
import { call, jsonOf } from "./call.ts";

interface Described {
  readonly operationId: string;
  readonly parameters: readonly { readonly $ref: string }[];
  readonly requestBody: {
    readonly content: Readonly<Record<string, { readonly example: { readonly id: string } }>>;
  };
  readonly responses: Readonly<Record<string, unknown>>;
}

interface Union {
  readonly discriminator?: { readonly propertyName: string; readonly mapping: object };
}

interface Document {
  readonly webhooks: Readonly<Record<string, { readonly post: Described }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Union>>;
    readonly parameters: Readonly<Record<string, { readonly name: string; readonly in: string }>>;
  };
}

async function documentOf(engine: MessagingEngine): Promise<Document> {
  const answer = await call(engine.api, { path: "/v1/openapi.json" });
  return jsonOf(answer) as unknown as Document;
}

/** Refuses fields that a schema does not name, so that none is left undescribed. */
function closed(document: Document): Document {
  const text = JSON.stringify(document, (_, each: unknown) =>
    typeof each === "object" && each !== null && "properties" in each && "type" in each
      ? { additionalProperties: false, ...each }
      : each,
  );
  return JSON.parse(text) as Document;
}

/** Returns what is wrong with an event, by the schema of the webhook of its type, or null. */
function checker(document: Document): (event: { readonly type: string }) => string | null {
  const ajv = new Ajv({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addSchema(closed(document), "document");
  const place = "post/requestBody/content/application~1json/schema";
  return (event) => {
    const validate = ajv.getSchema(`document#/webhooks/${event.type}/${place}`);
    if (validate === undefined) return `no webhook ${event.type}`;
    return validate(event) === true ? null : ajv.errorsText(validate.errors);
  };
}

const url = "https://hooks.example.com/all";
const goneUrl = "https://hooks.example.com/gone";
const [ann, bo, unreachable] = ["+15005550101", "+15005550102", "+15005550003"];

/** An engine whose account has seen every type of event, in a webhook and in a stream. */
async function everythingHappened() {
  const { clock, started } = world();
  const there = receivers(clock);
  const one = await started(memory(), {
    transports: [sandbox()],
    http: { client: there.client },
    agents: { model: () => ({}), actions: [refund] },
    sentiment: sentiment(),
  });
  const { secret } = await one.webhooks.create({ url, events: ["*"] });
  there.at(goneUrl, () => ({ status: 410 }));
  await one.webhooks.create({ url: goneUrl, events: ["contact.updated"] });
  const stream = (await one.events.stream())[Symbol.asyncIterator]();

  await one.sandbox.inbound({ from: ann, body: "I love your shop, thank you so much!" });
  const inbound = await one.sandbox.inbound({
    from: ann,
    body: "No, this is terrible. I hate it. The worst shop ever, horrible and awful!",
    media: [{ url: "https://example.com/broken.jpg" }],
  });
  const { contact_id, conversation_id } = inbound;
  await one.messages.send({ to: bo, body: "Hello" });
  await one.messages.send({ to: unreachable, body: "Hello" });
  await clock.advance(60_000);
  await one.contacts.update(contact_id, { name: "Ann", labels: ["vip"], attributes: { a: "b" } });
  await one.contacts.setConsent(contact_id, "text", { status: "opted_out" });
  await one.contacts.setConsent(contact_id, "text", { status: "opted_in" });
  await one.conversations.update(conversation_id, { priority: "high" });
  await one.conversations.handOff(conversation_id, { reason: "Asked for a person." });
  const agent = await one.agents.create({ name: "Ada", channels: ["sms"], actions: [refund.name] });
  const run = await one.agents.trigger(agent.id, { contact_id, action: refund.name, input: {} });
  await clock.advance(60_000);
  await one.agents.approve(agent.id, run.id, { decision: "approve", author_id: "user_17" });
  await clock.advance(60_000);
  await one.messages.redact(inbound.id);
  await one.conversations.update(conversation_id, { status: "closed" });
  await clock.advance(60_000);
  const erased = await one.contacts.create({ phone: "+15005550103", name: "Cy" });
  await clock.advance(60_000);
  await one.contacts.erase(erased.id);
  await clock.advance(60_000);

  const { data: listed } = await one.events.list({ limit: 100 });
  const streamed: Event[] = [];
  while (streamed.length < listed.length) {
    const next = await stream.next();
    if (next.done === true) break;
    streamed.push(next.value);
  }
  await stream.return?.();
  const requests = there.seen.filter((request) => request.url === url);
  return { one, listed, streamed, requests, secret };
}

test("real events of every type match the schema that the document gives for their webhook", async () => {
  const { one, listed, streamed, requests } = await everythingHappened();
  const sent = requests.map(({ body }) => JSON.parse(body) as Event);
  const problemOf = checker(await documentOf(one));
  for (const events of [sent, listed, streamed]) {
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(eventTypes));
    const problems = events.map(({ type, ...others }) => [type, problemOf({ type, ...others })]);
    expect(problems.filter(([, problem]) => problem !== null)).toEqual([]);
  }
});

test("requests to a webhook have the headers that the document describes", async () => {
  const { one, requests, secret } = await everythingHappened();
  const { webhooks, components } = await documentOf(one);
  const [request] = requests;
  if (request === undefined) throw new Error("no request came");
  const described = webhooks["message.received"]?.post.parameters.map(
    ({ $ref }) => components.parameters[$ref.split("/").at(-1) ?? ""],
  );
  expect(described).toMatchObject([
    { name: "webhook-id", in: "header" },
    { name: "webhook-timestamp", in: "header" },
    { name: "webhook-signature", in: "header" },
  ]);
  expect(request.headers).toMatchObject(
    Object.fromEntries(described?.map((each) => [each?.name, expect.anything()]) ?? []),
  );
  expect(isGenuine(request, secret)).toBe(true);
});

test("each webhook has an example and responses, and the union of events names its member", async () => {
  const document = await documentOf(world().engine(memory()));
  const problemOf = checker(document);
  expect(Object.keys(document.webhooks)).toEqual(eventTypes);
  const { discriminator } = document.components.schemas["Event"] ?? {};
  expect(discriminator?.propertyName).toBe("type");
  expect(Object.keys(discriminator?.mapping ?? {})).toEqual(eventTypes);
  for (const [type, { post }] of Object.entries(document.webhooks)) {
    const { example } = post.requestBody.content["application/json"] ?? {};
    expect([type, problemOf({ type, ...example })]).toEqual([type, null]);
    expect(Object.keys(post.responses)).toEqual(["410", "429", "503", "2XX", "default"]);
  }
});
