/**
 * Detects opt-out, opt-in and help keywords. A keyword is the whole message. Only its letters and
 * digits count. A message that resembles an opt-out is only a suspected opt-out. A person must then
 * decide, unless the host application configured otherwise.
 */
import type { Keyword } from "../contacts/index.ts";
import { editDistance, foldText } from "../kernel/index.ts";

/** Folded, without spaces. Carriers in Canada require the French words ARRÊT and AIDE. */
const keywords: ReadonlyMap<string, Keyword> = new Map([
  ...[
    "stop",
    "stopall",
    "unsubscribe",
    "cancel",
    "end",
    "quit",
    "revoke",
    "optout",
    "remove",
    "arret",
  ].map((word) => [word, "opt_out"] as const),
  ...["start", "unstop", "yes"].map((word) => [word, "opt_in"] as const),
  ...["help", "info", "aide"].map((word) => [word, "help"] as const),
]);

/** Matches a text with more letters than a keyword has. Most messages need not be folded. */
const tooLong = /^(?:[^\p{L}\p{N}]*[\p{L}\p{N}]){12}/u;

/**
 * Returns a message's keyword. START and YES count only from a contact who has opted out. People
 * write `"STOP"`, `STOP 🛑` and `Opt-out`, and keyboards add invisible marks of direction. None of
 * this may keep an opt-out from being applied. A colon separates words, so `Re: move` is not
 * REMOVE.
 */
export function keywordOf(body: string, isOptedOut: boolean): Keyword | null {
  if (tooLong.test(body)) return null;
  const letters = foldText(body).replaceAll(/[^\p{L}\p{N}:]/gu, "");
  const [part = "", ...others] = letters.split(":").filter((each) => each !== "");
  const keyword = others.length === 0 ? (keywords.get(part) ?? null) : null;
  return keyword === "opt_in" && !isOptedOut ? null : keyword;
}

/** How many characters of a message are checked. */
const maxCheckedCharacters = 1_000;

/**
 * Whether a message without a keyword seems to ask for an opt-out. It matches a request at the
 * beginning of a clause ("please stop texting me", "stop now pls", "take me off your list") and a
 * misspelt keyword alone ("stpo", "unsubcribe"). It does not match a negation or another meaning
 * ("don't stop", "bus stop", "stop by tomorrow"). It knows English only.
 */
export function suspectsOptOut(body: string): boolean {
  if (keywordOf(body, false) === "opt_out") return false;
  const text = foldText(body.slice(0, maxCheckedCharacters), "none")
    .replaceAll(/['\p{Cf}]/gu, "")
    .replace(/[\p{S}_*"“”()-]/gu, " ");
  const clauses = text
    .split(/[^\p{L}\p{N}\s]+|\n|\b(?:and|but|so|or)\b/u)
    .map((clause) => clause.trim().replace(/\s+/g, " "))
    .filter((clause) => clause !== "");
  const [only, ...others] = clauses;
  if (only !== undefined && others.length === 0 && isMisspeltStop(only)) return true;
  return clauses
    .map((clause) => clause.replace(lead, ""))
    .some((clause) => requests.test(clause) || isMisspeltUnsubscribe(clause));
}

/** Words before the request itself. */
const lead = new RegExp(
  `^(?:(?:${[
    "please|pls|plz|just|ok|okay|hey|hi|hello|kindly|now|no(?! more)|omg|ffs",
    "can you|could you|will you|would you|you (?:must|should|need to|have to)",
    "i said|i told you to|i want you to|i want to|i would like to|id like to|i wish to",
    "how (?:do|can) i|let me",
  ].join("|")}) )+`,
);

const messages =
  "(?:texts?|texting|messages?|messaging|sms|spam|spamming|msgs?|alerts?|notifications?|" +
  "marketing|promos?)";
const verbs =
  "(?:texting|messaging|sending|contacting|spamming|bothering|harassing|bugging|writing|" +
  "calling|pestering)";
/** Words between `stop` and what should stop. */
const fillers = "(?: (?:all|with|of|the|these|those|this|your|my|sending|any))*";

const requests = new RegExp(
  `^(?:${[
    // "stop", "stop now please", "stop stop", "stop texting me", "stop all these messages"
    `stop(?: (?:it|this|that|now|already|please|pls|plz|thanks|thank you|immediately|all|stop))*$`,
    `(?:stop|quit)(?: (?:all|with|it))* ${verbs}\\b.*`,
    `(?:stop|end|cancel|no more|enough)${fillers} ${messages}\\b.*`,
    `(?:unsubscribe|unsub|unenroll|deregister)\\b.*`,
    `opt(?:ing)?(?: (?:me|us))? out\\b.*`,
    `optout\\b.*`,
    `(?:take|get) (?:me|us|my (?:number|phone)) off\\b.*`,
    `(?:remove|delete|erase) (?:me|us|my (?:phone )?number|this (?:phone )?number)\\b.*`,
    `leave me alone\\b.*`,
    `(?:i )?(?:hereby )?(?:revoke|withdraw)(?: (?:my|all))* (?:consent|permission)\\b.*`,
    `(?:do not|dont|never|quit|stop) (?:text|message|contact|call|write|bother|send)` +
      `(?: to)? (?:me|us|this|anything|any)\\b.*`,
    `lose my number\\b.*`,
  ].join("|")})$`,
);

/**
 * Accepts two swapped letters or repeated letters. Other typos of `stop` are real words, such as
 * top, shop and step.
 */
function isMisspeltStop(word: string): boolean {
  return word !== "stop" && misspeltStops.has(word.replace(/(\p{L})\1+/gu, "$1"));
}

/** Whether a clause begins with a typo of `unsubscribe`. */
function isMisspeltUnsubscribe(clause: string): boolean {
  const [word = ""] = clause.split(" ");
  return /^un\p{L}{6,12}$/u.test(word) && editDistance(word, "unsubscribe") <= 2;
}

/** Returns a word and its forms with two neighbouring letters swapped. */
function swapped(word: string): ReadonlySet<string> {
  const letters = [...word];
  const forms = letters
    .slice(1)
    .map((_, i) =>
      [
        ...letters.slice(0, i),
        ...letters.slice(i, i + 2).toReversed(),
        ...letters.slice(i + 2),
      ].join(""),
    );
  return new Set([word, ...forms]);
}

const misspeltStops = swapped("stop");
