/**
 * The conformance suite for transports finds mistakes: each of these transports has exactly one.
 */
import { describe, expect, test } from "vitest";
import {
  transportConformance,
  type TransportConformance,
  type TransportNeed,
} from "../../../adapters/testing/index.ts";
import type {
  CallbackRequest,
  CallbackResult,
  InboundMessage,
  LookupAnswer,
  LookupContext,
  OutboundMessage,
  RejectedAnswer,
  ReportedReceipt,
  SendAnswer,
  SendContext,
  Transport,
} from "../../../src/ports/transport.ts";
import { failedChecks } from "../../support/conformance-checks.ts";
import { twilioUnderTest } from "./stand-ins.ts";

const unable: Partial<Record<TransportNeed, string>> = { pushes: "its carrier calls back" };

type Spoil = (sound: Transport) => Partial<Transport>;

/** The errors of the checks that a spoilt transport fails, by name. */
function failures(
  spoil: Spoil,
  without = unable,
  only?: string,
): Promise<ReadonlyMap<string, string>> {
  const create: TransportConformance["create"] = async (clock) => {
    const under = twilioUnderTest(() => clock.now());
    return { ...under, transport: { ...under.transport, ...spoil(under.transport) } };
  };
  const conformance = { create, unable: without };
  return failedChecks((runner) => transportConformance(runner, "spoilt", conformance), only);
}

/** The names of the checks that a spoilt transport fails. */
async function broken(spoil: Spoil, without = unable): Promise<string[]> {
  return [...(await failures(spoil, without)).keys()];
}

/** Changes each message before it is sent. */
const writing =
  (change: (message: OutboundMessage) => Partial<OutboundMessage>): Spoil =>
  ({ send }) => ({
    send: (message, context) => send({ ...message, ...change(message) }, context),
  });

/** Changes each answer. */
const answering =
  (change: (answer: SendAnswer, context: SendContext) => SendAnswer): Spoil =>
  ({ send }) => ({
    send: async (message, context) => change(await send(message, context), context),
  });

/** Changes each rejection. */
const rejecting = (change: (answer: RejectedAnswer) => SendAnswer): Spoil =>
  answering((answer) => (answer.outcome === "rejected" ? change(answer) : answer));

/** Changes each answer of a look-up. */
const lookingUp =
  (change: (answer: LookupAnswer, attempt: LookupContext) => LookupAnswer): Spoil =>
  ({ lookup }) => ({
    lookup: async (message, attempt) =>
      change((await lookup?.(message, attempt)) ?? { outcome: "unknown" }, attempt),
  });

const unparsed = (): Promise<CallbackResult> => Promise.reject(new Error("none"));

/** Changes each callback before it is parsed. */
const calling =
  (change: (request: CallbackRequest) => CallbackRequest): Spoil =>
  ({ parseCallback = unparsed }) => ({
    parseCallback: async (request) => parseCallback(change(request)),
  });

/** Changes what each callback reports. */
const parsing =
  (change: (result: CallbackResult, nth: number) => CallbackResult): Spoil =>
  ({ parseCallback = unparsed }) => {
    let nth = 0;
    return {
      parseCallback: async (request) => change(await parseCallback(request), nth++),
    };
  };

/** Changes each receipt. */
const receiving = (change: (each: ReportedReceipt) => Partial<ReportedReceipt>): Spoil =>
  parsing((result) => ({
    ...result,
    receipts: result.receipts.map((each) => ({ ...each, ...change(each) })),
  }));

/** Changes each inbound message. */
const hearing = (
  change: (message: InboundMessage, nth: number) => Partial<InboundMessage>,
): Spoil =>
  parsing((result, nth) => ({
    ...result,
    inbound: result.inbound.map((each) => ({ ...each, ...change(each, nth) })),
  }));

const withoutTypes = hearing(({ media }) => ({ media: media.map(({ url }) => ({ url })) }));
const another = { attempt_id: "att_other" } as const;

const reachWithText = "reach the carrier with their sender, recipient and text";
const reachWithFiles = "reach the carrier with their files, in their order";
const reportThrottling = "report throttling as a temporary rejection";

describe("the suite for transports", () => {
  test("says what a transport has to do and what it did", async () => {
    const errorOf = async (name: string, spoil: Spoil): Promise<string | undefined> =>
      (await failures(spoil, unable, name)).get(name);
    const late = hearing(() => ({ at: 0 }));
    expect(await errorOf("pass on an inbound message unchanged", late)).toMatch(
      /^Error: callbacks pass on an inbound message unchanged: expected a time within 1 s of \d+, in milliseconds, as the time of the message, got 0$/,
    );
    const trimming = writing(({ body }) => ({ body: body.trim() }));
    expect(await errorOf(reachWithText, trimming)).toMatch(
      /expected .*"body":" {2}Spaces around {2}".* \(the message that the carrier received\), got .*"body":"Spaces around"/,
    );
    const throwing = () => ({ send: () => Promise.reject(new TypeError("no")) });
    expect(await errorOf("give two messages different ids", throwing)).toBe(
      "Error: answers give two messages different ids: expected no error, got TypeError: no",
    );
  });

  test("passes for a correct transport", async () => {
    expect(await broken(() => ({}))).toEqual([]);
    expect(await broken(hearing(() => ({ keyword: null })))).toEqual([]);
  });

  test("passes for a transport whose carrier gives the URLs of inbound files alone", async () => {
    expect(await broken(withoutTypes, { ...unable, "media-types": "URLs alone" })).toEqual([]);
  });

  test("passes for a transport that compares signatures as bytes, and so ignores what follows them", async () => {
    const decoding = calling(({ headers, ...request }) => {
      const signature = Buffer.from(headers["x-twilio-signature"] ?? "", "base64");
      return {
        ...request,
        headers: { ...headers, "x-twilio-signature": signature.toString("base64") },
      };
    });
    expect(await broken(decoding)).toEqual([]);
  });

  test.each<[what: string, spoil: Spoil, found: string]>([
    [
      "reports a lost answer as a refusal",
      answering((answer) =>
        answer.outcome === "ambiguous"
          ? { outcome: "rejected", error: answer.error, permanent: false }
          : answer,
      ),
      "are ambiguous when the carrier's answer was lost",
    ],
    [
      "takes the seconds of a receipt for milliseconds",
      receiving(({ receipt }) => ({ receipt: { ...receipt, at: receipt.at / 1_000 } })),
      "report the status of the right attempt",
    ],
    [
      "reports every answer as accepted",
      answering((_, { attempt_id }) => ({
        outcome: "accepted",
        provider_message_id: `p-${attempt_id}`,
      })),
      "report a permanent rejection",
    ],
    [
      "gives all messages the same id",
      answering((answer) =>
        answer.outcome === "accepted" ? { ...answer, provider_message_id: "same" } : answer,
      ),
      "give two messages different ids",
    ],
    [
      "ignores its signal",
      ({ send }) => ({
        send: (message, context) =>
          send(message, { ...context, signal: new AbortController().signal }),
      }),
      "are ambiguous when the signal aborts",
    ],
    [
      "reports throttling as a permanent refusal",
      rejecting((answer) => ({ ...answer, permanent: true })),
      reportThrottling,
    ],
    [
      "passes on the seconds of a pause as milliseconds",
      rejecting(({ retry_after_ms = 0, ...answer }) => ({
        ...answer,
        retry_after_ms: retry_after_ms / 1_000,
      })),
      reportThrottling,
    ],
    [
      "ignores the pause that the carrier asks for",
      rejecting(({ retry_after_ms: _, ...answer }) => answer),
      reportThrottling,
    ],
    [
      "cuts off a text after one segment",
      writing(({ body }) => ({ body: body.slice(0, 160) })),
      reachWithText,
    ],
    [
      "removes the spaces around a text",
      writing(({ body }) => ({ body: body.trim() })),
      reachWithText,
    ],
    [
      "encodes a text twice",
      writing(({ body }) => ({ body: encodeURIComponent(body) })),
      reachWithText,
    ],
    [
      "sends a text in the encoding Latin-1",
      writing(({ body }) => ({ body: Buffer.from(body, "latin1").toString("latin1") })),
      reachWithText,
    ],
    [
      "sends every message from one number",
      writing(() => ({ from: "+15005550000" })),
      reachWithText,
    ],
    ["sends a message to its sender", writing(({ from }) => ({ to: from })), reachWithText],
    [
      "sends the first file only",
      writing(({ media }) => ({ media: media.slice(0, 1) })),
      reachWithFiles,
    ],
    [
      "sends files in the reverse order",
      writing(({ media }) => ({ media: media.toReversed() })),
      reachWithFiles,
    ],
    [
      "leaves the parameters out of a file's URL",
      writing(({ media }) => ({
        media: media.map((file) => ({ ...file, url: file.url.replace(/\?.*/, "") })),
      })),
      reachWithFiles,
    ],
    [
      "sends the files of one message with the next",
      (sound) => {
        const files: OutboundMessage["media"][number][] = [];
        return writing(({ media }) => {
          files.push(...media);
          return { media: files };
        })(sound);
      },
      reachWithFiles,
    ],
    [
      "sends again during a look-up",
      ({ send }) => ({
        async lookup(message, attempt) {
          void send(message, { ...attempt, signal: new AbortController().signal });
          return { outcome: "unknown" };
        },
      }),
      "find a message by its provider id",
    ],
    [
      "reports a message that it does not find as not sent",
      lookingUp((answer, { provider_message_id }) =>
        provider_message_id === null ? { outcome: "not_sent" } : answer,
      ),
      "are never not_sent when the carrier's answer was lost",
    ],
    [
      "matches any message to the same number",
      ({ lookup }) => ({
        lookup: async (message, attempt) =>
          (await lookup?.({ ...message, body: "Hello" }, attempt)) ?? { outcome: "unknown" },
      }),
      "do not match another message",
    ],
    [
      "does not verify signatures",
      () => ({
        parseCallback: async () => ({ receipts: [], inbound: [], response: { status: 200 } }),
      }),
      "are refused when one bit was changed",
    ],
    [
      "throws an internal error for a malformed callback",
      calling((request) => {
        JSON.parse(new TextDecoder().decode(request.body).slice(0, 1) || "0");
        return request;
      }),
      "are refused when they are malformed",
    ],
    [
      "names another attempt",
      receiving(() => ({ subject: another })),
      "report the status of the right attempt",
    ],
    ["drops the types of media", withoutTypes, "pass on the types of an inbound message's files"],
    [
      "makes up a new id each time",
      hearing((_, nth) => ({ provider_message_id: `${nth}` })),
      "give the same result when they are repeated",
    ],
    [
      "ignores repeated callbacks",
      parsing((result, nth) => ({ ...result, receipts: nth > 0 ? [] : result.receipts })),
      "give the same result in any order",
    ],
    [
      "drops all media but the first",
      hearing(({ media }) => ({ media: media.slice(0, 1) })),
      "pass on an inbound message unchanged",
    ],
    [
      "takes every inbound message for an MMS",
      hearing(() => ({ channel: "mms" })),
      "pass on an inbound message unchanged",
    ],
    [
      "lets the carrier repeat inbound messages",
      parsing((result) =>
        result.inbound.length === 0 ? result : { ...result, response: { status: 500 } },
      ),
      "pass on an inbound message unchanged",
    ],
    [
      "takes the text of an inbound message for its id",
      hearing(({ body }) => ({ provider_message_id: body })),
      "give two equal inbound messages different ids",
    ],
    [
      "compares signatures of different lengths",
      calling((request) => {
        const { length } = request.headers["x-twilio-signature"] ?? "";
        if (length !== 0 && length !== 28) throw new RangeError("The lengths differ.");
        return request;
      }),
      "are refused when their signature is malformed",
    ],
    [
      "gives no message with the error of a receipt",
      receiving(({ receipt }) => ({
        receipt: { ...receipt, error: receipt.error && { ...receipt.error, message: "" } },
      })),
      "report the status of the right attempt",
    ],
    [
      "takes the seconds of a look-up for milliseconds",
      lookingUp((answer, { started_at }) =>
        answer.outcome === "sent"
          ? { ...answer, receipts: [{ status: "sent", at: started_at / 1_000 }] }
          : answer,
      ),
      "find a message by its provider id",
    ],
    [
      "trusts the URL that was called",
      ({ parseCallback = unparsed }) => ({
        async parseCallback(request) {
          const [url = ""] = request.url.split("&attempt=");
          const result = await parseCallback({ ...request, url });
          const receipts = result.receipts.map((each) =>
            url === request.url ? each : { ...each, subject: another },
          );
          return { ...result, receipts };
        },
      }),
      "are refused without their signature and do not depend on other headers",
    ],
    [
      "cannot be started again",
      ({ send }) => {
        let isOver = false;
        return {
          stop: async () => void (isOver = true),
          send: (message, context) =>
            isOver ? Promise.reject(new Error("over")) : send(message, context),
        };
      },
      "continue after a stop and a start",
    ],
  ])("finds one that %s", async (_, spoil, found) => {
    expect(await broken(spoil)).toContain(found);
  });

  test("requires a reason for each test that a transport skips", async () => {
    const { length } = await broken(() => ({}), {});
    expect(length).toBe(1);
    const names = await broken(
      ({ lookup: _, ...rest }) => ({ ...rest, lookup: undefined as never }),
      unable,
    );
    expect(names).toContain("find a message by its provider id");
  });
});
