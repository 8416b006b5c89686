import { plainText } from "../../language/english/terms.ts";

/**
 * The answer to an acknowledgment. If the message has another courtesy too ("Thanks, got it!"),
 * that one is answered.
 */
const acknowledgment = "Thank you!";

/**
 * Courtesies, as `plainText` writes them, and their answers in the same language. A courtesy is a
 * whole part of a message, between punctuation.
 */
const courtesies: ReadonlyMap<string, string> = new Map(
  [
    ["hi, hello, hey, hiya", "Hello! How can we help you?"],
    ["good morning, good afternoon, good evening, good day", "Hello! How can we help you?"],
    ["hallo, guten morgen, guten tag, guten abend", "Hallo! Wie können wir helfen?"],
    ["servus, moin, gruss gott", "Hallo! Wie können wir helfen?"],
    ["bonjour, bonsoir, salut", "Bonjour ! Comment pouvons-nous vous aider ?"],
    ["hola, buenos dias", "¡Hola! ¿En qué podemos ayudarle?"],
    ["buenas, buenas tardes, buenas noches", "¡Hola! ¿En qué podemos ayudarle?"],
    ["ciao, buongiorno, buonasera, salve", "Salve! Come possiamo aiutarla?"],
    ["ola, bom dia, boa tarde, boa noite", "Olá! Como podemos ajudar?"],
    ["thank, thanks, thank you, thx, ty, cheers, much appreciated", "You're welcome!"],
    ["danke, dankeschon, danke schon, vielen dank, besten dank", "Gern geschehen!"],
    ["merci, merci beaucoup", "Avec plaisir !"],
    ["gracias, muchas gracias", "¡De nada!"],
    ["grazie, grazie mille", "Prego!"],
    ["obrigado, obrigada, muito obrigado, muito obrigada", "De nada!"],
    ["ok, okay, k, great, perfect, got it, alright, will do, sounds good", acknowledgment],
    ["see you, bye, thats all, no thanks, no thank you", acknowledgment],
    ["never mind, nevermind, nvm, forget it, forget that, forget about it", "All right!"],
    ["changed my mind, i changed my mind", "All right!"],
  ].flatMap(([phrases = "", answer = ""]) => phrases.split(", ").map((each) => [each, answer])),
);

/** Words that may go with a courtesy and change nothing. */
const fillerForms = [
  "there|everyone|again|so much|very much|a lot|a bunch|you too|then|that is",
  "for (?:the|your) (?:help|info|information|quick reply)",
];
const fillers = new RegExp(String.raw`\b(?:${fillerForms.join("|")})\b`, "g");

const friendlyEmoji = /[👍🙏❤😊🎉]\p{Emoji_Modifier}?\ufe0f?/gu;

/**
 * Returns the answer to a greeting, thanks or an assent, in its language; null if the message says
 * anything else.
 */
export function smallTalk(text: string): string | null {
  // An emoji becomes a comma, so that it separates parts.
  const withoutEmoji = text.replaceAll(friendlyEmoji, ",");
  const parts = plainText(withoutEmoji)
    .replaceAll(fillers, " ")
    .split(/[\p{P}\n]+/u)
    .map((part) => part.replaceAll(/\s+/g, " ").trim())
    .filter((part) => part !== "");
  // Nothing is left of a message that has only emoji. The answer is an emoji too.
  if (parts.length === 0) return withoutEmoji === text ? null : "👍";
  const answers = parts.map((part) => courtesies.get(part));
  if (answers.includes(undefined)) return null;
  return answers.findLast((answer) => answer !== acknowledgment) ?? acknowledgment;
}
