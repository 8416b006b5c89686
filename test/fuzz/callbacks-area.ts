/** Callbacks of carriers: genuine signatures over anything, and anything with no signature. */
import fc from "fast-check";
import type { CallbackRequest } from "../../src/ports/transport.ts";
import { fromTelnyx, fromTwilio, sid, uuid } from "../adapters/transport/world.ts";
import { allRoutes } from "../security/examples.ts";
import { area } from "./area.ts";
import { checkAnswer } from "./document.ts";
import { corrupted, corruption, mutated, mutation, oddText } from "./json.ts";
import { answerOf, fuzzWorld, readBack, shop } from "./world.ts";

const phone = fc.oneof(fc.constantFrom("+15005551000", "+15005551001"), oddText);
const texts = fc.oneof(fc.constantFrom("Hello", "STOP", "START", "HELP"), oddText);
const ids = fc.integer({ min: 1, max: 3 });
const statuses = fc.constantFrom("sent", "delivered", "undelivered", "failed", "read", "x", "");

const twilioFields = fc
  .record({
    MessageSid: fc.oneof(ids.map(sid), oddText),
    From: phone,
    To: fc.oneof({ weight: 4, arbitrary: fc.constant(shop) }, { weight: 1, arbitrary: phone }),
    Body: texts,
    NumMedia: fc.constantFrom("0", "1", "2", "-1", "1e9", "x"),
    MediaUrl0: fc.oneof(fc.webUrl(), oddText),
    MediaContentType0: fc.oneof(fc.constant("image/png"), oddText),
    MessageStatus: statuses,
    ErrorCode: fc.oneof(fc.constantFrom("30003", "21610"), oddText),
  })
  .chain((all) => fc.subarray(Object.entries(all)))
  .map((fields) => fields.map(([name, value]) => [name, value.toWellFormed()] as const));

const telnyxEvent = fc.record({
  data: fc.record({
    event_type: fc.constantFrom("message.received", "message.sent", "message.finalized", "x"),
    occurred_at: fc.oneof(fc.constant("2026-01-01T00:00:01Z"), oddText),
    payload: fc.record({
      id: fc.oneof(ids.map(uuid), oddText),
      type: fc.constantFrom("SMS", "MMS"),
      from: fc.record({ phone_number: phone }),
      to: fc.array(
        fc.record({
          phone_number: fc.constant(shop),
          status: fc.oneof(statuses, fc.constant("webhook_delivered")),
        }),
        { maxLength: 2 },
      ),
      text: texts,
      media: fc.array(fc.record({ url: fc.oneof(fc.webUrl(), oddText), content_type: oddText }), {
        maxLength: 12,
      }),
      errors: fc.array(fc.record({ code: oddText, title: oddText }), { maxLength: 2 }),
      received_at: fc.oneof(fc.constant("2026-01-01T00:00:00Z"), oddText),
      completed_at: oddText,
      webhook_url: oddText,
    }),
  }),
});

interface CallbackCase {
  readonly carrier: "twilio" | "telnyx";
  readonly make: (now: number) => CallbackRequest;
}

const queries = fc.oneof(
  fc.constant(""),
  oddText.map((text) => `?attempt=${encodeURIComponent(text.toWellFormed())}`),
);

const callback: fc.Arbitrary<CallbackCase> = fc.oneof(
  fc.tuple(twilioFields, queries).map(([fields, query]) => ({
    carrier: "twilio" as const,
    make: (now: number) => fromTwilio(fields, query, now),
  })),
  fc.tuple(telnyxEvent, fc.option(mutation)).map(([event, change]) => ({
    carrier: "telnyx" as const,
    make: (now: number) => fromTelnyx(change === null ? event : mutated(event, change), now),
  })),
);

interface Sent {
  readonly callback: CallbackCase;
  /** Changes the bytes after they were signed. */
  readonly spoilt: Parameters<typeof corrupted>[1] | null;
}

const route = allRoutes.find(({ operation }) => operation.kind === "callback");

export const callbacksArea = area<readonly Sent[]>({
  name: "callbacks",
  share: 1,
  cases: fc.array(fc.record({ callback, spoilt: fc.option(corruption, { freq: 4 }) }), {
    minLength: 1,
    maxLength: 6,
  }),
  async run(given, sent) {
    await using world = await fuzzWorld();
    const { engine, clock, own } = world;
    const live = engine.account(own.scope.account_id, { mode: "live" });
    const { secret } = await live.apiKeys.create({ name: "live" });
    // The first carrier of the case has the number.
    const [first] = given;
    const transport = first?.callback.carrier ?? "twilio";
    await live.senders.create({ address: shop, channels: ["sms", "mms"], transport });
    await live.messages.send({ to: "+15005551000", body: "Hello" });
    await clock.settle();
    for (const {
      callback: { make },
      spoilt,
    } of given) {
      const { url, headers, body } = make(clock.now());
      const bytes = spoilt === null ? Buffer.from(body) : corrupted(Buffer.from(body), spoilt);
      sent(bytes);
      const answer = await world.ask({
        method: "POST",
        path: url.replace(/^\/api/, ""),
        headers: Object.entries(headers).flat(),
        raw: bytes,
      });
      checkAnswer(answerOf(answer), route);
    }
    await world.check();
    await readBack(world.ask, { secret });
  },
});
