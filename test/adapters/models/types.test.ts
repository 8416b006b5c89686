import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModel as Version7 } from "ai";
import type { LanguageModel as Version5 } from "ai-v5";
import type { MockLanguageModelV2 } from "ai-v5/test";
import type { LanguageModel as Version6 } from "ai-v6";
import type { MockLanguageModelV3 } from "ai-v6/test";
import type { MockLanguageModelV4 } from "ai/test";
import {
  languageModel,
  type GenerateOptions,
  type GenerateResult,
  type LanguageModel,
} from "tidings/models";
import { describe, expectTypeOf, it } from "vitest";

type OfVersion<Models, Version> = Extract<Models, { readonly specificationVersion: Version }>;
type V2 = OfVersion<Version5, "v2">;
type V3 = OfVersion<Version6, "v3">;
type V4 = OfVersion<Version7, "v4">;
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
    expectTypeOf<OfVersion<Version7, "v2" | "v3">>().not.toBeNever();
  });

  it("fit `languageModel()`, and so do their mocks", () => {
    expectTypeOf<V2>().toExtend<LanguageModel>();
    expectTypeOf<V3>().toExtend<LanguageModel>();
    expectTypeOf<V4>().toExtend<LanguageModel>();
    expectTypeOf<OfVersion<Version7, "v2" | "v3" | "v4">>().toExtend<LanguageModel>();
    expectTypeOf<MockLanguageModelV2>().toExtend<LanguageModel>();
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
    const constant = {
      providerOptions: { local: { stop: ["\n"], nested: { list: [1] } } },
    } as const;
    expectTypeOf(languageModel).toBeCallableWith(provider("any"), constant);
    // @ts-expect-error an embedding model is not a language model
    expectTypeOf(languageModel).toBeCallableWith(provider.embeddingModel("any"));
  });
});
