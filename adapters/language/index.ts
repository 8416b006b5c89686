export { english } from "./english.ts";
export type { DateContext, Language, Passage, RankedPassage } from "../../src/ports/index.ts";
