import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV2 as V2 } from "@ai-sdk/provider-v2";
import type { LanguageModelV3 as V3 } from "@ai-sdk/provider-v3";
import type { LanguageModel as AnyModel } from "ai";
import type { MockLanguageModelV3, MockLanguageModelV4 } from "ai/test";
import { describe, expectTypeOf, it } from "vitest";
import {
  languageModel,
  type GenerateOptions,
  type GenerateResult,
  type LanguageModel,
} from "tidings/models";

/** A specification as the SDK's newest version knows it. */
type OfVersion<Version> = Extract<AnyModel, { readonly specificationVersion: Version }>;
type V4 = OfVersion<"v4">;
type Asked<Model extends { doGenerate: (options: never) => unknown }> = Parameters<
  Model["doGenerate"]
>[0];
type Answered<Model extends { doGenerate: (options: never) => unknown }> = Awaited<
  ReturnType<Model["doGenerate"]>
>;

/** The compiler checks these (`npm run types`): it reports a change in the SDK's specification. */
describe("the types of the AI SDK's language models", () => {
  it("exist for all three specifications", () => {
    expectTypeOf<V2>().not.toBeNever();
    expectTypeOf<V3>().not.toBeNever();
    expectTypeOf<V4>().not.toBeNever();
    expectTypeOf<OfVersion<"v2" | "v3">>().not.toBeNever();
  });

  it("fit `languageModel()`, and so do their mocks", () => {
    expectTypeOf<V2>().toExtend<LanguageModel>();
    expectTypeOf<V3>().toExtend<LanguageModel>();
    expectTypeOf<V4>().toExtend<LanguageModel>();
    expectTypeOf<OfVersion<"v2" | "v3" | "v4">>().toExtend<LanguageModel>();
    expectTypeOf<MockLanguageModelV3>().toExtend<LanguageModel>();
    expectTypeOf<MockLanguageModelV4>().toExtend<LanguageModel>();
  });

  it("accept our requests and return the results that we read", () => {
    expectTypeOf<GenerateOptions>().toExtend<Asked<V2>>();
    expectTypeOf<GenerateOptions>().toExtend<Asked<V3>>();
    expectTypeOf<GenerateOptions>().toExtend<Asked<V4>>();
    expectTypeOf<Answered<V2>>().toExtend<GenerateResult>();
    expectTypeOf<Answered<V3>>().toExtend<GenerateResult>();
    expectTypeOf<Answered<V4>>().toExtend<GenerateResult>();
  });

  it("exclude model names and objects that are not language models", () => {
    // @ts-expect-error a model name needs the SDK's gateway, which is not supported
    expectTypeOf(languageModel).toBeCallableWith("openai/gpt-5");
    // @ts-expect-error specification v1 had other parts
    expectTypeOf<{ specificationVersion: "v1" }>().toExtend<LanguageModel>();
    const provider = createOpenAICompatible({ name: "local", baseURL: "http://localhost/v1" });
    expectTypeOf(languageModel).toBeCallableWith(provider("any"));
    expectTypeOf(languageModel).toBeCallableWith(provider("any"), {
      temperature: 0,
      providerOptions: { local: { a: 1 } },
    });
    // @ts-expect-error an embedding model is not a language model
    expectTypeOf(languageModel).toBeCallableWith(provider.embeddingModel("any"));
  });
});
