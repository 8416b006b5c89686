/** The language of a page. */
import { configureTexts, currentDirection, currentLocale } from "./define-texts.ts";

/** Sets the texts, and how browsers and screen readers treat them. */
export function setLanguage(options: Parameters<typeof configureTexts>[0]): void {
  configureTexts(options);
  document.documentElement.lang = currentLocale();
  document.documentElement.dir = currentDirection();
}
