import { TidingsError } from "../../../../src/kernel/index.ts";
import type {
  CallbackRequest,
  CallbackResult,
  InboundMessage,
  Receipt,
} from "../../../../src/ports/index.ts";
import { holds, same } from "../checks.ts";
import {
  checkReceiptForm,
  receiptStatuses,
  type AcceptedMessage,
  type CarrierCallbacks,
  type Fixture,
  type TransportChecks,
} from "./fixture.ts";

function callbacksOf({ underTest }: Fixture): CarrierCallbacks {
  if (underTest.callbacks === undefined) {
    throw new Error("the transport has `parseCallback`, but `callbacks` is missing");
  }
  return underTest.callbacks;
}

async function parse({ transport }: Fixture, request: CallbackRequest): Promise<CallbackResult> {
  const result = await transport.parseCallback?.(request);
  if (result === undefined) throw new Error("the transport has no `parseCallback`");
  return result;
}

/**
 * The result, or `refused` for a 4xx error. Rethrows other errors, which are the transport's fault.
 */
async function parseOrRefuse(
  fixture: Fixture,
  request: CallbackRequest,
): Promise<CallbackResult | "refused"> {
  try {
    return await parse(fixture, request);
  } catch (error) {
    if (error instanceof TidingsError && error.status >= 400 && error.status < 500) {
      return "refused";
    }
    throw error;
  }
}

async function receiptsOf(fixture: Fixture): Promise<CallbackRequest[]> {
  const accepted = await fixture.sendAccepted();
  const at = fixture.clock.now();
  const callbacks = callbacksOf(fixture);
  return receiptStatuses.flatMap((status) => callbacks.receipt(accepted, status, at) ?? []);
}

async function firstReceiptOf(fixture: Fixture): Promise<CallbackRequest> {
  const [request] = await receiptsOf(fixture);
  if (request === undefined) throw new Error("the carrier sends no receipts");
  return request;
}

/** Returns a callback for each status, and one with an inbound message. */
async function allCallbacks(fixture: Fixture): Promise<CallbackRequest[]> {
  const inbound = inboundMessages(fixture).map((each) => callbacksOf(fixture).inbound(each));
  return [...(await receiptsOf(fixture)), ...inbound];
}

function inboundMessage(fixture: Fixture): InboundMessage {
  const { from, to } = fixture.underTest.message("accepts");
  return {
    provider_message_id: "inbound-1",
    channel: "sms",
    from: to,
    to: from,
    body: "Grüße & 👋 = 100% +1",
    media: [],
    at: fixture.clock.now(),
  };
}

/** A message of each channel that the carrier can deliver. */
function inboundMessages(fixture: Fixture): InboundMessage[] {
  const { channels } = fixture.transport.capabilities;
  const sms = inboundMessage(fixture);
  const media = [
    { url: "https://media.example/a.png?x=1&y=2", content_type: "image/png" },
    { url: "https://media.example/b", content_type: "video/mp4" },
  ];
  const mms = { ...sms, provider_message_id: "inbound-2", channel: "mms", media } as const;
  return [sms, mms].filter(({ channel }) => channels.includes(channel));
}

async function parseInbound(fixture: Fixture, written: InboundMessage): Promise<InboundMessage> {
  const request = callbacksOf(fixture).inbound(written);
  const { receipts, inbound, response } = await parse(fixture, request);
  same([receipts.length, inbound.length], [0, 1], "receipts and messages");
  checkResponse(response);
  const [first = written] = inbound;
  return first;
}

const urlsOf = ({ media }: InboundMessage): string[] => media.map(({ url }) => url);

const facts = ({ receipts, inbound }: CallbackResult): object => ({ receipts, inbound });

/** The request with one bit flipped, at several positions of its body. */
function* tampered(request: CallbackRequest): Generator<CallbackRequest> {
  for (const part of [0, 0.25, 0.5, 0.75, 0.999]) {
    const body = Uint8Array.from(request.body);
    const place = Math.floor(body.length * part);
    body[place] = (body[place] ?? 0) ^ 1;
    yield { ...request, body };
  }
}

/** Fails unless a time is the one that the stand-in wrote. Carriers may round it to seconds. */
function checkTime(at: unknown, written: number, of: string): void {
  const isOnTime = Math.abs(Number(at) - written) < 1_000;
  holds(isOnTime, `a time within 1 s of ${written}, in milliseconds, as the time of ${of}`, at);
}

/** Fails unless the result is one receipt with this status and time, of this message. */
function checkReceipt(
  { receipts, inbound, response }: CallbackResult,
  status: Receipt["status"],
  at: number,
  accepted: AcceptedMessage,
): void {
  const counts = [receipts.length, inbound.length];
  same(counts, [1, 0], `receipts and messages in a callback of ${status}`);
  const [parsed] = receipts;
  same(parsed?.receipt.status, status, "the status");
  checkTime(parsed?.receipt.at, at, `a receipt with the status ${status}`);
  holds(
    status === "undelivered" || !parsed?.receipt.error,
    `no error in a receipt with the status ${status}`,
    parsed?.receipt.error,
  );
  const { attempt_id, provider_message_id } = {
    attempt_id: undefined,
    provider_message_id: undefined,
    ...parsed?.subject,
  };
  const names = [attempt_id, provider_message_id].filter((name) => name !== undefined);
  holds(names.length > 0, `a receipt with the status ${status} that names its attempt`, names);
  holds(
    attempt_id === undefined || attempt_id === accepted.attempt_id,
    `the attempt ${accepted.attempt_id} in a receipt with the status ${status}`,
    attempt_id,
  );
  holds(
    provider_message_id === undefined || provider_message_id === accepted.provider_message_id,
    `the message ${accepted.provider_message_id} in a receipt with the status ${status}`,
    provider_message_id,
  );
  if (parsed !== undefined) checkReceiptForm(parsed.receipt);
  checkResponse(response);
}

function checkResponse({ status }: CallbackResult["response"]): void {
  holds(
    status >= 200 && status < 300,
    "a response with a 2xx status, or the carrier repeats the callback",
    status,
  );
}

export const callbackChecks: TransportChecks = {
  "report the status of the right attempt": {
    needs: ["accepts", "callbacks"],
    async run(fixture) {
      const accepted = await fixture.sendAccepted();
      const at = fixture.clock.now();
      for (const status of receiptStatuses) {
        const request = callbacksOf(fixture).receipt(accepted, status, at);
        if (request === undefined) continue;
        checkReceipt(await parse(fixture, request), status, at, accepted);
      }
    },
  },
  "pass on an inbound message unchanged": {
    needs: ["callbacks"],
    async run(fixture) {
      for (const written of inboundMessages(fixture)) {
        const parsed = await parseInbound(fixture, written);
        const { provider_message_id, at, keyword, ...message } = parsed;
        const { provider_message_id: _, at: written_at, ...expected } = written;
        const files = urlsOf(written);
        same({ ...message, media: urlsOf(parsed) }, { ...expected, media: files }, "the message");
        same(keyword ?? null, null, "the keyword of a message without one");
        holds(
          provider_message_id !== "",
          "a provider's id, by which repetitions are recognized",
          "",
        );
        checkTime(at, written_at, "the message");
      }
    },
  },
  "pass on the types of an inbound message's files": {
    needs: ["callbacks", "media-types"],
    async run(fixture) {
      for (const written of inboundMessages(fixture)) {
        const { media } = await parseInbound(fixture, written);
        same(media, written.media, "the files");
      }
    },
  },
  "give two equal inbound messages different ids": {
    needs: ["callbacks"],
    async run(fixture) {
      const written = inboundMessage(fixture);
      const one = await parseInbound(fixture, written);
      const two = await parseInbound(fixture, { ...written, provider_message_id: "inbound-3" });
      holds(
        one.provider_message_id !== two.provider_message_id,
        "another `provider_message_id` for a second message with the same text",
        two.provider_message_id,
      );
    },
  },
  "give the same result when they are repeated": {
    needs: ["accepts", "callbacks"],
    async run(fixture) {
      for (const request of await allCallbacks(fixture)) {
        same(
          facts(await parse(fixture, request)),
          facts(await parse(fixture, request)),
          "the second result",
        );
      }
    },
  },
  "give the same result in any order": {
    needs: ["accepts", "callbacks"],
    async run(fixture) {
      const requests = await receiptsOf(fixture);
      const forth = [];
      for (const request of requests) forth.push(facts(await parse(fixture, request)));
      const back = [];
      for (const request of requests.toReversed()) back.push(facts(await parse(fixture, request)));
      same(back.toReversed(), forth, "the results");
    },
  },
  "are refused when one bit was changed": {
    needs: ["accepts", "callbacks"],
    async run(fixture) {
      for (const request of await allCallbacks(fixture)) {
        for (const forged of tampered(request)) {
          same(await parseOrRefuse(fixture, forged), "refused", "the result of a forged callback");
        }
      }
    },
  },
  "are refused without their signature and do not depend on other headers": {
    needs: ["accepts", "callbacks"],
    async run(fixture) {
      const request = await firstReceiptOf(fixture);
      const original = facts(await parse(fixture, request));
      let refused = 0;
      for (const name of Object.keys(request.headers)) {
        const { [name]: _, ...headers } = request.headers;
        const result = await parseOrRefuse(fixture, { ...request, headers });
        if (result === "refused") refused++;
        else same(facts(result), original, `the result without ${name}`);
      }
      holds(refused > 0, "a refusal of a callback without its signature", "none");
      const elsewhere = await parseOrRefuse(fixture, {
        ...request,
        url: `${request.url}&attempt=att_01JZ0000000000000000000009`,
      });
      if (elsewhere !== "refused") same(facts(elsewhere), original, "the result at another URL");
    },
  },
  "are refused when their signature is malformed": {
    needs: ["accepts", "callbacks"],
    async run(fixture) {
      const request = await firstReceiptOf(fixture);
      for (const [name, value] of Object.entries(request.headers)) {
        const sent = (header: string): CallbackRequest => ({
          ...request,
          headers: { ...request.headers, [name]: header },
        });
        // Says how to read the body, and signs nothing.
        if (name === "content-type") continue;
        // A header that may be empty is no signature.
        if ((await parseOrRefuse(fixture, sent(""))) !== "refused") continue;
        // None contains the whole value. Of a longer one, a transport may read only that part.
        const half = value.slice(0, value.length / 2);
        for (const header of ["x", half, "é, é", "A".repeat(50 * value.length)]) {
          const result = await parseOrRefuse(fixture, sent(header));
          same(result, "refused", `the result with ${header.slice(0, 20)} as ${name}`);
        }
      }
    },
  },
  "are refused when they are malformed": {
    needs: ["callbacks"],
    async run(fixture) {
      const { url, headers, received_at } = callbacksOf(fixture).inbound(inboundMessage(fixture));
      const bodies = [
        "",
        "{",
        "null",
        "[]",
        '{"data":{}}',
        "a=b",
        "\0\u{ffff}",
        "%",
        "=&=&=".repeat(1_000),
        "[".repeat(100_000),
      ];
      for (const body of bodies) {
        for (const sent of [headers, {}]) {
          const request = {
            method: "POST",
            url,
            headers: sent,
            body: new TextEncoder().encode(body),
            received_at,
          };
          same(
            await parseOrRefuse(fixture, request),
            "refused",
            `the result of ${body.slice(0, 10)}`,
          );
        }
      }
    },
  },
};
