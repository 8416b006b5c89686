export { rules, type RulesOptions } from "./rules.ts";
export { languageModel, type LanguageModelOptions } from "./language-model.ts";
export type {
  GenerateOptions,
  GenerateResult,
  LanguageModel,
  ProviderOptions,
} from "./language-model/specification.ts";
