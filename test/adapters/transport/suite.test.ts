/** The conformance suite finds what is wrong with a transport: each of these is sound but for one thing. */
import { describe, expect, test } from "vitest";
import type { CallbackResult, Transport } from "../../../src/ports/transport.ts";
import { type Need, transportConformance } from "../../../src/testing/index.ts";
import { twilioUnderTest } from "./stand-ins.ts";

const unable: Partial<Record<Need, string>> = { pushes: "its carrier calls back" };

/** The sentences that don't hold. */
async function broken(
  spoil: (sound: Transport) => Partial<Transport>,
  without = unable,
): Promise<string[]> {
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
  const failed: string[] = [];
  for (const { name, run } of cases) await run().catch(() => failed.push(name));
  return failed;
}

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

describe("the suite for transports", () => {
  test("has nothing against a sound one", async () => {
    expect(await broken(() => ({}))).toEqual([]);
  });

  test.each<[what: string, spoil: (sound: Transport) => Partial<Transport>, found: string]>([
    [
      "takes a lost answer for a refusal",
      ({ send }) => ({
        async send(message, context) {
          const answer = await send(message, context);
          if (answer.outcome !== "ambiguous") return answer;
          return { outcome: "rejected", error: answer.error, permanent: false };
        },
      }),
      "know nothing of a message whose answer was lost",
    ],
    [
      "takes any answer for a yes",
      ({ send }) => ({
        async send(message, context) {
          await send(message, context);
          return { outcome: "accepted", provider_message_id: `p-${context.attempt_id}` };
        },
      }),
      "say what is refused for good",
    ],
    [
      "calls all messages the same",
      ({ send }) => ({
        async send(message, context) {
          const answer = await send(message, context);
          return answer.outcome === "accepted"
            ? { ...answer, provider_message_id: "same" }
            : answer;
        },
      }),
      "tell two messages apart",
    ],
    [
      "ignores its signal",
      ({ send }) => ({
        send: (message, context) =>
          send(message, { ...context, signal: new AbortController().signal }),
      }),
      "come when the signal aborts, and know nothing then",
    ],
    [
      "gives up for good on what is throttled",
      ({ send }) => ({
        async send(message, context) {
          const answer = await send(message, context);
          return answer.outcome === "rejected" ? { ...answer, permanent: true } : answer;
        },
      }),
      "leave what is throttled to be tried again",
    ],
    [
      "sends again to look up",
      ({ send }) => ({
        async lookup(message, attempt) {
          void send(message, { ...attempt, signal: new AbortController().signal });
          return { outcome: "unknown" };
        },
      }),
      "find a message by what the carrier calls it",
    ],
    [
      "takes what it doesn't find for unsent",
      ({ lookup }) => ({
        async lookup(message, attempt) {
          const answer = (await lookup?.(message, attempt)) ?? { outcome: "unknown" };
          return attempt.provider_message_id === null ? { outcome: "not_sent" } : answer;
        },
      }),
      "never deny a message whose answer was lost",
    ],
    [
      "takes any message to the number for it",
      ({ lookup }) => ({
        lookup: async (message, attempt) =>
          (await lookup?.({ ...message, body: "Hello" }, attempt)) ?? { outcome: "unknown" },
      }),
      "don't take another message for it",
    ],
    [
      "verifies nothing",
      () => ({
        parseCallback: async () => ({ receipts: [], inbound: [], response: { status: 200 } }),
      }),
      "are refused when a bit of them was changed",
    ],
    [
      "throws what is not the caller's fault",
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
      "that are none are refused",
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
      "tell what became of which attempt",
    ],
    [
      "drops media",
      parsing((result) => ({
        ...result,
        inbound: result.inbound.map((each) => ({ ...each, media: [] })),
      })),
      "bring a message as it was written",
    ],
    [
      "makes up a name each time",
      parsing((result, nth) => ({
        ...result,
        inbound: result.inbound.map((each) => ({ ...each, provider_message_id: `${nth}` })),
      })),
      "say the same when they come again",
    ],
    [
      "remembers what it was told before",
      parsing((result, nth) => ({ ...result, receipts: nth > 0 ? [] : result.receipts })),
      "say the same in any order",
    ],
    [
      "goes by the URL that was called",
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
      "are refused without their signature, and say the same without anything else",
    ],
    [
      "can't be started again",
      ({ send }) => {
        let isOver = false;
        return {
          stop: async () => void (isOver = true),
          send: (message, context) =>
            isOver ? Promise.reject(new Error("over")) : send(message, context),
        };
      },
      "come again after a stop and a start",
    ],
  ])("finds one that %s", async (_, spoil, found) => {
    expect(await broken(spoil)).toContain(found);
  });

  test("asks for a reason where a transport has not what a test needs", async () => {
    const { length } = await broken(() => ({}), {});
    expect(length).toBe(1);
    const names = await broken(
      ({ lookup: _, ...rest }) => ({ ...rest, lookup: undefined as never }),
      unable,
    );
    expect(names).toContain("find a message by what the carrier calls it");
  });
});
