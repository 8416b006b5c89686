import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { withRetries } from "../../../adapters/models/language-model/retries.ts";

/** An error with the fields of the AI SDK's `APICallError`. */
function failure(isRetryable: boolean, retryAfter?: string): Error {
  const responseHeaders = retryAfter === undefined ? {} : { "retry-after": retryAfter };
  return Object.assign(new Error("refused"), { isRetryable, responseHeaders });
}

/** Makes a call that fails as often as there are failures. Returns the pauses between attempts. */
async function attempt(failures: readonly unknown[], signal = new AbortController().signal) {
  const left = [...failures];
  const starts: number[] = [];
  const over = withRetries(async () => {
    starts.push(Date.now());
    if (left.length > 0) throw left.shift();
    return "answer";
  }, signal).catch((error: unknown) => error);
  await vi.runAllTimersAsync();
  const waits = starts.slice(1).map((start, index) => start - (starts[index] ?? 0));
  return { result: await over, attempts: starts.length, waits };
}

describe("a call of a language model", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

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
    for (const lasting of [failure(false), new Error("bug"), new TypeError("bug")]) {
      expect(await attempt([lasting])).toEqual({ result: lasting, attempts: 1, waits: [] });
    }
  });

  it("is not retried after a value that is not an error, and fails with an error", async () => {
    for (const thrown of ["thrown text", { isRetryable: true }, null]) {
      const { result, attempts } = await attempt([thrown]);
      expect(attempts).toBe(1);
      expect(result).toBeInstanceOf(Error);
    }
  });

  it("waits for the server's Retry-After, and fails if that is too long", async () => {
    expect((await attempt([failure(true, "3")])).waits).toEqual([3_000]);
    expect((await attempt([failure(true, "0")])).waits).toEqual([250]);
    expect((await attempt([failure(true, "Wed, 21 Oct 2026 07:28:00 GMT")])).waits).toEqual([250]);
    const long = failure(true, "30");
    expect(await attempt([long])).toEqual({ result: long, attempts: 1, waits: [] });
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
          if (attempts++ === at) controller.abort(new Error("too late"));
          throw failure(true);
        };
        const over = withRetries(failing, controller.signal).catch((error: unknown) => error);
        await vi.runAllTimersAsync();
        expect(await over).toEqual(new Error("too late"));
        expect(attempts, "No attempt follows the abort.").toBe(at + 1);
      }),
    );
  });

  it.each(["1", "3"])("ends at once when the signal aborts during a pause of %s s", async (s) => {
    const controller = new AbortController();
    let attempts = 0;
    const failing = async (): Promise<never> => {
      attempts += 1;
      throw failure(true, s);
    };
    const over = withRetries(failing, controller.signal).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(900);
    controller.abort(new Error("too late"));
    expect(await over).toEqual(new Error("too late"));
    expect([attempts, vi.getTimerCount()]).toEqual([1, 0]);
  });
});
