import { plainText } from "../../../src/agents/words.ts";

interface Courtesy {
  /** A part of the message between signs, whole. */
  readonly said: RegExp;
  readonly answer: string;
}

/** In the language that it was said in. */
const courtesies: readonly Courtesy[] = [
  {
    said: /^(?:hi|hello|hey|hiya|good (?:morning|afternoon|evening|day))$/,
    answer: "Hello! How can we help you?",
  },
  {
    said: /^(?:hallo|guten (?:morgen|tag|abend)|servus|moin|gruss gott)$/,
    answer: "Hallo! Wie können wir helfen?",
  },
  { said: /^(?:bonjour|bonsoir|salut)$/, answer: "Bonjour ! Comment pouvons-nous vous aider ?" },
  {
    said: /^(?:hola|buenos dias|buenas(?: tardes| noches)?)$/,
    answer: "¡Hola! ¿En qué podemos ayudarle?",
  },
  { said: /^(?:ciao|buongiorno|buonasera|salve)$/, answer: "Salve! Come possiamo aiutarla?" },
  { said: /^(?:ola|bom dia|boa (?:tarde|noite))$/, answer: "Olá! Como podemos ajudar?" },
  { said: /^(?:thanks?|thank you|thx|ty|cheers|much appreciated)$/, answer: "You're welcome!" },
  { said: /^(?:danke|dankeschon|vielen dank|besten dank|danke schon)$/, answer: "Gern geschehen!" },
  { said: /^(?:merci|merci beaucoup)$/, answer: "Avec plaisir !" },
  { said: /^(?:gracias|muchas gracias)$/, answer: "¡De nada!" },
  { said: /^(?:grazie|grazie mille)$/, answer: "Prego!" },
  { said: /^(?:obrigad[oa]|muito obrigad[oa])$/, answer: "De nada!" },
  {
    said: /^(?:ok|okay|k|great|perfect|got it|alright|will do|sounds good|see you|bye|thats all)$/,
    answer: "Thank you!",
  },
  { said: /^(?:no thanks|no thank you)$/, answer: "Thank you!" },
  {
    said: /^(?:never ?mind|nvm|forget (?:it|that|about it)|(?:i )?changed my mind)$/,
    answer: "All right!",
  },
];

/** Said beside it without a meaning of its own. */
const around =
  /\b(?:there|everyone|again|so much|very much|a lot|a bunch|you too|then|that is|for (?:the|your) (?:help|info|information|quick reply))\b/g;

const kindSigns = /[👍🙏❤😊🎉]\ufe0f?/gu;

/** What a greeting, thanks or an assent is returned with, in its language; null when the message is more than that. */
export function smallTalk(text: string): string | null {
  const worded = text.replaceAll(kindSigns, ",");
  const parts = plainText(worded)
    .replaceAll(around, " ")
    .split(/[\p{P}\n]+/u)
    .map((part) => part.replaceAll(/\s+/g, " ").trim())
    .filter((part) => part !== "");
  if (parts.length === 0) return worded === text ? null : "👍";
  const answers = parts.map((part) => courtesies.find(({ said }) => said.test(part))?.answer);
  return answers.includes(undefined) ? null : (answers.at(-1) ?? null);
}
