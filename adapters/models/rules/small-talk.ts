import { plainText } from "../../language/english/terms.ts";

interface Courtesy {
  /** Matches a whole part of a message, between punctuation. */
  readonly pattern: RegExp;
  readonly answer: string;
}

/**
 * The answer to an acknowledgment. If the message has another courtesy too ("Thanks, got it!"),
 * that one is answered.
 */
const acknowledgment = "Thank you!";

/** Each answer is in the language of what it answers. */
const courtesies: readonly Courtesy[] = [
  {
    pattern: /^(?:hi|hello|hey|hiya|good (?:morning|afternoon|evening|day))$/,
    answer: "Hello! How can we help you?",
  },
  {
    pattern: /^(?:hallo|guten (?:morgen|tag|abend)|servus|moin|gruss gott)$/,
    answer: "Hallo! Wie können wir helfen?",
  },
  { pattern: /^(?:bonjour|bonsoir|salut)$/, answer: "Bonjour ! Comment pouvons-nous vous aider ?" },
  {
    pattern: /^(?:hola|buenos dias|buenas(?: tardes| noches)?)$/,
    answer: "¡Hola! ¿En qué podemos ayudarle?",
  },
  { pattern: /^(?:ciao|buongiorno|buonasera|salve)$/, answer: "Salve! Come possiamo aiutarla?" },
  { pattern: /^(?:ola|bom dia|boa (?:tarde|noite))$/, answer: "Olá! Como podemos ajudar?" },
  { pattern: /^(?:thanks?|thank you|thx|ty|cheers|much appreciated)$/, answer: "You're welcome!" },
  {
    pattern: /^(?:danke|dankeschon|vielen dank|besten dank|danke schon)$/,
    answer: "Gern geschehen!",
  },
  { pattern: /^(?:merci|merci beaucoup)$/, answer: "Avec plaisir !" },
  { pattern: /^(?:gracias|muchas gracias)$/, answer: "¡De nada!" },
  { pattern: /^(?:grazie|grazie mille)$/, answer: "Prego!" },
  { pattern: /^(?:obrigad[oa]|muito obrigad[oa])$/, answer: "De nada!" },
  {
    pattern:
      /^(?:ok|okay|k|great|perfect|got it|alright|will do|sounds good|see you|bye|thats all)$/,
    answer: acknowledgment,
  },
  { pattern: /^(?:no thanks|no thank you)$/, answer: acknowledgment },
  {
    pattern: /^(?:never ?mind|nvm|forget (?:it|that|about it)|(?:i )?changed my mind)$/,
    answer: "All right!",
  },
];

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
  const answers = parts.map((part) => courtesies.find(({ pattern }) => pattern.test(part))?.answer);
  if (answers.includes(undefined)) return null;
  return answers.findLast((answer) => answer !== acknowledgment) ?? acknowledgment;
}
