import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withRetries } from "../../../adapters/models/language-model.ts";

/** An error with the fields of the AI SDK's `APICallError`. */
function failure(isRetryable: boolean, retryAfter?: string): Error {
  const responseHeaders = retryAfter === undefined ? {} : { "retry-after": retryAfter };
  return Object.assign(new Error("refused"), { isRetryable, responseHeaders });
}

async function attempt(failures: readonly unknown[], signal = new AbortController().signal) {
  const left = [...failures];
  const waits: number[] = [];
  let attempts = 0;
  const result = await withRetries(
    async () => {
      attempts += 1;
      if (left.length > 0) throw left.shift();
      return "answer";
    },
    signal,
    async (ms) => {
      waits.push(ms);
      signal.throwIfAborted();
    },
  ).catch((error: unknown) => error);
  return { result, attempts, waits };
}

describe("a call of a language model", () => {
  it("is retried after a temporary error, at most twice", async () => {
    const passing = failure(true);
    expect(await attempt([passing])).toEqual({ result: "answer", attempts: 2, waits: [250] });
    expect(await attempt([passing, passing])).toEqual({
      result: "answer",
      attempts: 3,
      waits: [250, 1_000],
    });
    expect(await attempt([passing, passing, passing])).toEqual({
      result: passing,
      attempts: 3,
      waits: [250, 1_000],
    });
  });

  it("is not retried after a permanent error", async () => {
    for (const lasting of [
      failure(false),
      new Error("bug"),
      "thrown text",
      { isRetryable: true },
      null,
    ]) {
      expect(await attempt([lasting])).toEqual({ result: lasting, attempts: 1, waits: [] });
    }
  });

  it("waits for the server's Retry-After, and fails if that is too long", async () => {
    expect((await attempt([failure(true, "3")])).waits).toEqual([3_000]);
    expect((await attempt([failure(true, "0")])).waits).toEqual([250]);
    expect((await attempt([failure(true, "Wed, 21 Oct 2026 07:28:00 GMT")])).waits).toEqual([250]);
    expect(await attempt([failure(true, "30")])).toMatchObject({ attempts: 1, waits: [] });
  });

  it("is not made after the signal aborted", async () => {
    const aborted = AbortSignal.abort(new Error("too late"));
    expect(await attempt([failure(true)], aborted)).toMatchObject({
      attempts: 0,
      result: new Error("too late"),
    });
    await fc.assert(
      fc.asyncProperty(fc.nat(2), async (at) => {
        const controller = new AbortController();
        let attempts = 0;
        const failing = async (): Promise<never> => {
          if (attempts++ === at) controller.abort();
          throw failure(true);
        };
        await expect(withRetries(failing, controller.signal, async () => {})).rejects.toThrow(
          "refused",
        );
        expect(attempts).toBe(at + 1);
      }),
    );
  });
});
