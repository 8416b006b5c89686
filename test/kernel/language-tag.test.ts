import { expect, it } from "vitest";
import { isLanguageTag } from "../../src/kernel/language-tag.ts";

it.each(["de", "pt-BR", "zh-Hant-TW"])("accepts %s", (tag) => {
  expect(isLanguageTag(tag)).toBe(true);
});

it.each(["", "e", "en_US", "de-", "x-private"])('does not accept "%s"', (text) => {
  expect(isLanguageTag(text)).toBe(false);
});
