import { TidingsError } from "../../kernel/index.ts";
import type {
  CallbackRequest,
  CallbackResult,
  InboundMessage,
  Receipt,
} from "../../ports/index.ts";
import { holds, same } from "../storage-conformance/checks.ts";
import type { Bench, CarrierCallbacks, Case } from "./bench.ts";

const statuses: readonly Receipt["status"][] = ["sent", "delivered", "undelivered", "read"];

function callbacksOf({ under }: Bench): CarrierCallbacks {
  if (under.callbacks === undefined) {
    throw new Error("the transport parses callbacks, and its carrier makes none");
  }
  return under.callbacks;
}

async function parse({ transport }: Bench, request: CallbackRequest): Promise<CallbackResult> {
  const result = await transport.parseCallback?.(request);
  if (result === undefined) throw new Error("the transport parses no callbacks");
  return result;
}

/** The result, or that it was refused as the client's fault. Anything else that is thrown is an error of the transport's. */
async function parseOrRefuse(
  bench: Bench,
  request: CallbackRequest,
): Promise<CallbackResult | "refused"> {
  try {
    return await parse(bench, request);
  } catch (error) {
    if (error instanceof TidingsError && error.status >= 400 && error.status < 500) {
      return "refused";
    }
    throw error;
  }
}

async function receiptsOf(bench: Bench): Promise<CallbackRequest[]> {
  const taken = await bench.taken();
  const at = bench.clock.now();
  const callbacks = callbacksOf(bench);
  return statuses.flatMap((status) => callbacks.receipt(taken, status, at) ?? []);
}

function inboundMessage(bench: Bench): InboundMessage {
  const { from, to } = bench.under.message("accepts");
  const isMms = bench.transport.capabilities.channels.includes("mms");
  return {
    provider_message_id: "",
    channel: isMms ? "mms" : "sms",
    from: to,
    to: from,
    body: "Grüße & 👋 = 100% +1",
    media: isMms ? [{ url: "https://media.example/a.png?x=1&y=2", content_type: "image/png" }] : [],
    at: bench.clock.now(),
  };
}

const facts = ({ receipts, inbound }: CallbackResult): object => ({ receipts, inbound });

/** The same request but for one bit, at several places of its body. */
function* bent(request: CallbackRequest): Generator<CallbackRequest> {
  for (const part of [0, 0.25, 0.5, 0.75, 0.999]) {
    const body = Uint8Array.from(request.body);
    const place = Math.floor(body.length * part);
    body[place] = (body[place] ?? 0) ^ 1;
    yield { ...request, body };
  }
}

export const callbackCases: Readonly<Record<string, Case>> = {
  "tell what became of which attempt": {
    needs: ["accepts", "callbacks"],
    async run(bench) {
      const taken = await bench.taken();
      for (const status of statuses) {
        const request = callbacksOf(bench).receipt(taken, status, bench.clock.now());
        if (request === undefined) continue;
        const { receipts, inbound, response } = await parse(bench, request);
        same(
          [receipts.length, inbound.length],
          [1, 0],
          `receipts and messages in one of ${status}`,
        );
        const [told] = receipts;
        same(told?.receipt.status, status, "the status");
        holds(
          (told?.receipt.error !== undefined) === (status === "undelivered"),
          `${status}: a reason where it did not arrive`,
        );
        const { attempt_id, provider_message_id } = {
          attempt_id: undefined,
          provider_message_id: undefined,
          ...told?.subject,
        };
        holds(
          attempt_id === undefined || attempt_id === taken.attempt_id,
          `${status} is of another attempt`,
        );
        const names = [attempt_id, provider_message_id].filter((name) => name !== undefined);
        holds(names.length > 0, `${status} is of no attempt`);
        holds(
          (provider_message_id ?? taken.provider_message_id) === taken.provider_message_id,
          `${status} is of another message`,
        );
        holds(response.status >= 200 && response.status < 300, "the carrier would tell it again");
      }
    },
  },
  "bring a message as it was written": {
    needs: ["callbacks"],
    async run(bench) {
      const written = inboundMessage(bench);
      const { receipts, inbound } = await parse(bench, callbacksOf(bench).inbound(written));
      same([receipts.length, inbound.length], [0, 1], "receipts and messages");
      const [first = written] = inbound;
      const { provider_message_id, at, ...message } = first;
      const { provider_message_id: _, at: written_at, ...expected } = written;
      same(message, expected, "the message");
      holds(
        provider_message_id !== "",
        "a message without a name is made again each time that it comes",
      );
      holds(Math.abs(at - written_at) < 1_000, "its time");
    },
  },
  "say the same when they come again": {
    needs: ["accepts", "callbacks"],
    async run(bench) {
      const requests = [
        ...(await receiptsOf(bench)),
        callbacksOf(bench).inbound(inboundMessage(bench)),
      ];
      for (const request of requests) {
        same(
          facts(await parse(bench, request)),
          facts(await parse(bench, request)),
          "what it says the second time",
        );
      }
    },
  },
  "say the same in any order": {
    needs: ["accepts", "callbacks"],
    async run(bench) {
      const requests = await receiptsOf(bench);
      const forth = [];
      for (const request of requests) forth.push(facts(await parse(bench, request)));
      const back = [];
      for (const request of requests.toReversed()) back.push(facts(await parse(bench, request)));
      same(back.toReversed(), forth, "what they say");
    },
  },
  "are refused when a bit of them was changed": {
    needs: ["accepts", "callbacks"],
    async run(bench) {
      const requests = [
        ...(await receiptsOf(bench)),
        callbacksOf(bench).inbound(inboundMessage(bench)),
      ];
      for (const request of requests) {
        for (const forged of bent(request)) {
          same(await parseOrRefuse(bench, forged), "refused", "what a forged callback says");
        }
      }
    },
  },
  "are refused without their signature, and say the same without anything else": {
    needs: ["accepts", "callbacks"],
    async run(bench) {
      const [request] = await receiptsOf(bench);
      if (request === undefined) throw new Error("the carrier tells nothing");
      const said = facts(await parse(bench, request));
      let refused = 0;
      for (const name of Object.keys(request.headers)) {
        const { [name]: _, ...headers } = request.headers;
        const result = await parseOrRefuse(bench, { ...request, headers });
        if (result === "refused") refused++;
        else same(facts(result), said, `what it says without ${name}`);
      }
      holds(refused > 0, "a callback without its signature was taken");
      const elsewhere = await parseOrRefuse(bench, {
        ...request,
        url: `${request.url}&attempt=att_01JZ0000000000000000000009`,
      });
      if (elsewhere !== "refused") same(facts(elsewhere), said, "what it says at another URL");
    },
  },
  "that are none are refused": {
    needs: ["callbacks"],
    async run(bench) {
      const { url, headers, received_at } = callbacksOf(bench).inbound(inboundMessage(bench));
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
          same(await parseOrRefuse(bench, request), "refused", `what ${body.slice(0, 10)} says`);
        }
      }
    },
  },
};
