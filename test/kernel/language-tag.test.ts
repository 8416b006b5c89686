import { expect, it } from "vitest";
import { isLanguageTag } from "../../src/kernel/language-tag.ts";

it.each(["de", "pt-BR", "zh-Hant-TW"])("%s is a well-formed language tag", (tag) => {
  expect(isLanguageTag(tag)).toBe(true);
});

it.each(["", "e", "en_US", "de-", "x-private"])('"%s" is no well-formed language tag', (text) => {
  expect(isLanguageTag(text)).toBe(false);
});
