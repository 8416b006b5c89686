/**
 * The conformance suite for transports finds mistakes: each of these transports has exactly one.
 */
import { describe, expect, test } from "vitest";
import { transportConformance, type TransportNeed } from "../../../adapters/testing/index.ts";
import type {
  CallbackResult,
  OutboundMessage,
  RejectedAnswer,
  SendAnswer,
  Transport,
} from "../../../src/ports/transport.ts";
import { twilioUnderTest } from "./stand-ins.ts";

const unable: Partial<Record<TransportNeed, string>> = { pushes: "its carrier calls back" };

/** The names of the tests that fail. */
async function broken(
  spoil: (sound: Transport) => Partial<Transport>,
  without = unable,
): Promise<string[]> {
  return [...(await failures(spoil, without)).keys()];
}

/** The errors of the failed tests, by name. Runs only the tests with these words in their names. */
async function failures(
  spoil: (sound: Transport) => Partial<Transport>,
  without = unable,
  only = "",
): Promise<Map<string, string>> {
  const cases: { name: string; run: () => Promise<void> }[] = [];
  const runner = {
    describe: (_: string, define: () => void) => define(),
    it: (name: string, run: () => Promise<void>) => void cases.push({ name, run }),
  };
  transportConformance(runner, "spoilt", {
    create: async (clock) => {
      const under = twilioUnderTest(() => clock.now());
      return { ...under, transport: { ...under.transport, ...spoil(under.transport) } };
    },
    unable: without,
  });
  const failed = new Map<string, string>();
  for (const { name, run } of cases.filter((each) => each.name.includes(only))) {
    await run().catch((error: unknown) => {
      failed.set(name, error instanceof Error ? error.message : "no Error");
    });
  }
  return failed;
}

/** Changes each message before it is sent. */
const writing =
  (change: (message: OutboundMessage) => Partial<OutboundMessage>) =>
  ({ send }: Transport): Partial<Transport> => ({
    send: (message, context) => send({ ...message, ...change(message) }, context),
  });

/** Changes each rejection. */
const rejecting =
  (change: (answer: RejectedAnswer) => SendAnswer) =>
  ({ send }: Transport): Partial<Transport> => ({
    async send(message, context) {
      const answer = await send(message, context);
      return answer.outcome === "rejected" ? change(answer) : answer;
    },
  });

const reachWithText = "reach the carrier with their sender, recipient and text";
const reachWithFiles = "reach the carrier with their files, in their order";
const reportThrottling = "report throttling as a temporary rejection";

const parsing =
  (change: (result: CallbackResult, nth: number) => CallbackResult) =>
  ({ parseCallback }: Transport): Partial<Transport> => {
    let nth = 0;
    return {
      async parseCallback(request) {
        const result = await parseCallback?.(request);
        if (result === undefined) throw new Error("none");
        return change(result, nth++);
      },
    };
  };

const withoutTypes = parsing((result) => ({
  ...result,
  inbound: result.inbound.map((each) => ({
    ...each,
    media: each.media.map(({ url }) => ({ url })),
  })),
}));

describe("the suite for transports", () => {
  test("says what a transport has to do and what it did", async () => {
    const errorOf = async (
      name: string,
      spoil: (sound: Transport) => Partial<Transport>,
    ): Promise<string | undefined> => (await failures(spoil, unable, name)).get(name);
    const late = parsing((result) => ({
      ...result,
      inbound: result.inbound.map((each) => ({ ...each, at: 0 })),
    }));
    expect(await errorOf("pass on an inbound message unchanged", late)).toMatch(
      /^callbacks pass on an inbound message unchanged: expected a time within 1 s of \d+, in milliseconds, as the time of the message, got 0$/,
    );
    const trimming = writing(({ body }) => ({ body: body.trim() }));
    expect(await errorOf(reachWithText, trimming)).toMatch(
      /expected .*"body":" {2}Spaces around {2}".* \(the message that the carrier received\), got .*"body":"Spaces around"/,
    );
    const throwing = () => ({ send: () => Promise.reject(new TypeError("no")) });
    expect(await errorOf("give two messages different ids", throwing)).toBe(
      "answers give two messages different ids: expected no error, got TypeError: no",
    );
  });

  test("passes for a correct transport", async () => {
    expect(await broken(() => ({}))).toEqual([]);
    const withNulls = parsing((result) => ({
      ...result,
      inbound: result.inbound.map((each) => ({ ...each, keyword: null })),
    }));
    expect(await broken(withNulls)).toEqual([]);
  });

  test("passes for a transport whose carrier gives the URLs of inbound files alone", async () => {
    expect(await broken(withoutTypes, { ...unable, "media-types": "URLs alone" })).toEqual([]);
  });

  test("passes for a transport that compares signatures as bytes, and so ignores what follows them", async () => {
    const decoding = ({ parseCallback }: Transport): Partial<Transport> => ({
      async parseCallback({ headers, ...request }) {
        const signature = Buffer.from(headers["x-twilio-signature"] ?? "", "base64");
        const decoded = { ...headers, "x-twilio-signature": signature.toString("base64") };
        const result = await parseCallback?.({ ...request, headers: decoded });
        if (result === undefined) throw new Error("none");
        return result;
      },
    });
    expect(await broken(decoding)).toEqual([]);
  });

  test.each<[what: string, spoil: (sound: Transport) => Partial<Transport>, found: string]>([
    [
      "reports a lost answer as a refusal",
      ({ send }) => ({
        async send(message, context) {
          const answer = await send(message, context);
          if (answer.outcome !== "ambiguous") return answer;
          return { outcome: "rejected", error: answer.error, permanent: false };
        },
      }),
      "are ambiguous when the carrier's answer was lost",
    ],
    [
      "takes the seconds of a receipt for milliseconds",
      parsing((result) => ({
        ...result,
        receipts: result.receipts.map(({ subject, receipt }) => ({
          subject,
          receipt: { ...receipt, at: receipt.at / 1_000 },
        })),
      })),
      "report the status of the right attempt",
    ],
    [
      "reports every answer as accepted",
      ({ send }) => ({
        async send(message, context) {
          await send(message, context);
          return { outcome: "accepted", provider_message_id: `p-${context.attempt_id}` };
        },
      }),
      "report a permanent rejection",
    ],
    [
      "gives all messages the same id",
      ({ send }) => ({
        async send(message, context) {
          const answer = await send(message, context);
          return answer.outcome === "accepted"
            ? { ...answer, provider_message_id: "same" }
            : answer;
        },
      }),
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
      ({ lookup }) => ({
        async lookup(message, attempt) {
          const answer = (await lookup?.(message, attempt)) ?? { outcome: "unknown" };
          return attempt.provider_message_id === null ? { outcome: "not_sent" } : answer;
        },
      }),
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
      ({ parseCallback }) => ({
        parseCallback: async (request) => {
          JSON.parse(new TextDecoder().decode(request.body).slice(0, 1) || "0");
          return (
            (await parseCallback?.(request)) ?? {
              receipts: [],
              inbound: [],
              response: { status: 200 },
            }
          );
        },
      }),
      "are refused when they are malformed",
    ],
    [
      "names another attempt",
      parsing((result) => ({
        ...result,
        receipts: result.receipts.map(({ receipt }) => ({
          subject: { attempt_id: "att_other" },
          receipt,
        })),
      })),
      "report the status of the right attempt",
    ],
    ["drops the types of media", withoutTypes, "pass on the types of an inbound message's files"],
    [
      "makes up a new id each time",
      parsing((result, nth) => ({
        ...result,
        inbound: result.inbound.map((each) => ({ ...each, provider_message_id: `${nth}` })),
      })),
      "give the same result when they are repeated",
    ],
    [
      "ignores repeated callbacks",
      parsing((result, nth) => ({ ...result, receipts: nth > 0 ? [] : result.receipts })),
      "give the same result in any order",
    ],
    [
      "drops all media but the first",
      parsing((result) => ({
        ...result,
        inbound: result.inbound.map((each) => ({ ...each, media: each.media.slice(0, 1) })),
      })),
      "pass on an inbound message unchanged",
    ],
    [
      "takes every inbound message for an MMS",
      parsing((result) => ({
        ...result,
        inbound: result.inbound.map((each) => ({ ...each, channel: "mms" })),
      })),
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
      parsing((result) => ({
        ...result,
        inbound: result.inbound.map((each) => ({ ...each, provider_message_id: each.body })),
      })),
      "give two equal inbound messages different ids",
    ],
    [
      "compares signatures of different lengths",
      ({ parseCallback }) => ({
        async parseCallback(request) {
          const { length } = request.headers["x-twilio-signature"] ?? "";
          if (length !== 0 && length !== 28) throw new RangeError("The lengths differ.");
          return (
            (await parseCallback?.(request)) ?? {
              receipts: [],
              inbound: [],
              response: { status: 200 },
            }
          );
        },
      }),
      "are refused when their signature is malformed",
    ],
    [
      "gives no message with the error of a receipt",
      parsing((result) => ({
        ...result,
        receipts: result.receipts.map(({ subject, receipt }) => ({
          subject,
          receipt: {
            ...receipt,
            error: receipt.error && { ...receipt.error, message: "" },
          },
        })),
      })),
      "report the status of the right attempt",
    ],
    [
      "takes the seconds of a look-up for milliseconds",
      ({ lookup }) => ({
        async lookup(message, attempt) {
          const answer = (await lookup?.(message, attempt)) ?? { outcome: "unknown" };
          if (answer.outcome !== "sent") return answer;
          return { ...answer, receipts: [{ status: "sent", at: attempt.started_at / 1_000 }] };
        },
      }),
      "find a message by its provider id",
    ],
    [
      "trusts the URL that was called",
      ({ parseCallback }) => ({
        parseCallback: async (request) => {
          const [url = ""] = request.url.split("&attempt=");
          const result = (await parseCallback?.({ ...request, url })) ?? {
            receipts: [],
            inbound: [],
            response: { status: 200 },
          };
          const receipts = result.receipts.map((each) =>
            url === request.url ? each : { ...each, subject: { attempt_id: "att_other" as const } },
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
