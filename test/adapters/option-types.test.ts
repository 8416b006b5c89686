import {
  MessagingEngine,
  type BatchMessages,
  type EngineOptions,
  type SendMessage,
  type TidingsError,
  type Transport,
} from "tidings";
import type { fetchHandler } from "tidings/fetch";
import type { httpClient } from "tidings/http-client";
import type { inboxHandler } from "tidings/inbox";
import { memory } from "tidings/memory";
import type { languageModel, rules } from "tidings/models";
import type { nodeHandler } from "tidings/node";
import type {
  CallbackResponse,
  CarrierError,
  DestinationOptions,
  HttpRequest,
  Receipt,
  RejectedAnswer,
} from "tidings/ports";
import type { postgres } from "tidings/postgres";
import { sandbox } from "tidings/sandbox";
import type { sqlite } from "tidings/sqlite";
import type { telnyx } from "tidings/telnyx";
import type {
  CallOptions,
  CrashOptions,
  ScriptedCarrierOptions,
  ScriptedModelOptions,
  ScriptedReceipt,
  ScriptedReceiverOptions,
  ScriptedResponse,
  ScriptedText,
  SettleOptions,
  simulated,
  ThrottledOutcome,
  TransportConformance,
  TransportUnderTest,
  WorldOptions,
} from "tidings/testing";
import type { twilio } from "tidings/twilio";
import type { widgetHandler } from "tidings/widget";
import { describe, expectTypeOf, it, test } from "vitest";

/** The names of the optional fields that may be left out, but may not be undefined. */
type Strict<T> = {
  [K in keyof T]-?: object extends Pick<T, K>
    ? Record<K, undefined> extends Pick<T, K>
      ? never
      : K
    : never;
}[keyof T];

type Option<K extends keyof EngineOptions> = NonNullable<EngineOptions[K]>;
type Item<List> = List extends readonly (infer T)[] ? T : never;
/** The options of a function: its last parameter. */
type OptionsOf<F extends (...args: never[]) => unknown> =
  Required<Parameters<F>> extends [...unknown[], infer Last] ? NonNullable<Last> : never;

/** The compiler checks these (`npm run types`). */
test("a message of a batch has the type of a message", () => {
  expectTypeOf<BatchMessages["messages"]>().toEqualTypeOf<readonly SendMessage[]>();
});

/** The compiler checks these, too. */
describe("an optional option", () => {
  it("of the engine may be undefined", () => {
    expectTypeOf<Strict<EngineOptions>>().toBeNever();
    expectTypeOf<Strict<Option<"limits">>>().toBeNever();
    expectTypeOf<Strict<Item<Option<"routes">>>>().toBeNever();
    expectTypeOf<Strict<Option<"http">>>().toBeNever();
    expectTypeOf<Strict<Option<"webhooks">>>().toBeNever();
    expectTypeOf<Strict<Option<"webchat">>>().toBeNever();
    expectTypeOf<Strict<Option<"consent">>>().toBeNever();
    expectTypeOf<Strict<Option<"agents">>>().toBeNever();
    expectTypeOf<Strict<Item<Option<"agents">["actions"]>>>().toBeNever();
    expectTypeOf<Strict<OptionsOf<MessagingEngine["account"]>>>().toBeNever();
    expectTypeOf<Strict<OptionsOf<MessagingEngine["stop"]>>>().toBeNever();
    expectTypeOf<Strict<OptionsOf<MessagingEngine["consume"]>>>().toBeNever();
    const quietHours = process.env["QUIET"] === "yes" ? { from: "21:00", to: "09:00" } : undefined;
    const engine = new MessagingEngine({ storage: memory(), transports: [sandbox()], quietHours });
    expectTypeOf(engine).toEqualTypeOf<MessagingEngine<undefined>>();
  });

  it("of an adapter may be undefined", () => {
    expectTypeOf<Strict<DestinationOptions>>().toBeNever();
    expectTypeOf<Strict<OptionsOf<typeof httpClient>>>().toBeNever();
    expectTypeOf<Strict<OptionsOf<typeof languageModel>>>().toBeNever();
    expectTypeOf<Strict<OptionsOf<typeof rules>>>().toBeNever();
    expectTypeOf<Strict<OptionsOf<typeof nodeHandler>>>().toBeNever();
    expectTypeOf<Strict<OptionsOf<typeof fetchHandler>>>().toBeNever();
    expectTypeOf<Strict<OptionsOf<typeof inboxHandler>>>().toBeNever();
    expectTypeOf<Strict<OptionsOf<typeof widgetHandler>>>().toBeNever();
    expectTypeOf<Strict<OptionsOf<typeof postgres>>>().toBeNever();
    expectTypeOf<Strict<OptionsOf<typeof sqlite>>>().toBeNever();
    expectTypeOf<Strict<OptionsOf<typeof telnyx>>>().toBeNever();
    expectTypeOf<Strict<OptionsOf<typeof twilio>>>().toBeNever();
    expectTypeOf<Strict<OptionsOf<typeof simulated>>>().toBeNever();
  });

  it("of what a transport returns or passes on may be undefined", () => {
    expectTypeOf<Strict<RejectedAnswer>>().toBeNever();
    expectTypeOf<Strict<CarrierError>>().toBeNever();
    expectTypeOf<Strict<Receipt>>().toBeNever();
    expectTypeOf<Strict<CallbackResponse>>().toBeNever();
    expectTypeOf<Strict<HttpRequest>>().toBeNever();
    expectTypeOf<Strict<Pick<Transport, "test_numbers">>>().toBeNever();
    type Facts = NonNullable<ConstructorParameters<typeof TidingsError>[2]>;
    expectTypeOf<Strict<Omit<Facts, "cause">>>().toBeNever();
  });

  it("of the tools for tests may be undefined", () => {
    expectTypeOf<Strict<WorldOptions>>().toBeNever();
    expectTypeOf<Strict<CallOptions>>().toBeNever();
    expectTypeOf<Strict<CrashOptions>>().toBeNever();
    expectTypeOf<Strict<SettleOptions>>().toBeNever();
    expectTypeOf<Strict<ScriptedCarrierOptions>>().toBeNever();
    expectTypeOf<Strict<ScriptedReceipt>>().toBeNever();
    expectTypeOf<Strict<ScriptedText>>().toBeNever();
    expectTypeOf<Strict<ThrottledOutcome>>().toBeNever();
    expectTypeOf<Strict<ScriptedReceiverOptions>>().toBeNever();
    expectTypeOf<Strict<ScriptedResponse>>().toBeNever();
    expectTypeOf<Strict<ScriptedModelOptions>>().toBeNever();
    expectTypeOf<Strict<TransportConformance>>().toBeNever();
    expectTypeOf<Strict<Pick<TransportUnderTest, "callbacks">>>().toBeNever();
  });
});
