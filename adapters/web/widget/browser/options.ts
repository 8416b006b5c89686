/** The options of the chat, which the page writes as attributes of the widget's script element. */
import { defaultTexts, type Texts } from "./texts.ts";

/** Checked options. */
export interface ChatOptions {
  /** Where the widget asks for a session. The host application decides there who the visitor is. */
  readonly sessionUrl: string;
  /**
   * Distinguishes the people who use this browser. Another value begins another chat. Empty for
   * visitors whom the page does not know.
   */
  readonly visitor: string;
  /** The color scheme. Undefined for that of the page. */
  readonly theme: "light" | "dark" | undefined;
  readonly texts: Texts;
}

/** @throws Error when an attribute is missing or wrong */
export function optionsOf({ dataset }: HTMLElement): ChatOptions {
  const { sessionUrl, visitor = "", theme } = dataset;
  const url = sessionUrl === undefined ? null : URL.parse(sessionUrl, document.baseURI);
  if (url === null) {
    throw new Error(
      "tidings: The chat needs the address that opens a visitor's session, such as " +
        `<script src="…/widget.js" data-session-url="/chat/session" async>. Given: ${sessionUrl}.`,
    );
  }
  return {
    sessionUrl: url.href,
    visitor,
    theme: theme === "light" || theme === "dark" ? theme : undefined,
    texts: textsOf(dataset),
  };
}

/** Returns the texts. The attribute `data-text-title` replaces the text `title`. */
function textsOf(dataset: DOMStringMap): Texts {
  const own = Object.keys(defaultTexts).map((key) => {
    const given = dataset[`text${key.charAt(0).toUpperCase()}${key.slice(1)}`];
    return [key, given] as const;
  });
  return { ...defaultTexts, ...Object.fromEntries(own.filter(([, text]) => text !== undefined)) };
}
