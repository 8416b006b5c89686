/**
 * What a contact says to be left alone, or not. A keyword is a whole message, in any case, but for blanks around it and punctuation
 * behind it. What only comes near an opt-out is suspected and no more: a person has to look, unless the host said otherwise.
 */

import { foldText } from "../kernel/index.ts";
import type { Keyword } from "../contacts/index.ts";

const keywords: ReadonlyMap<string, Keyword> = new Map([
  ...[
    "STOP",
    "STOPALL",
    "UNSUBSCRIBE",
    "CANCEL",
    "END",
    "QUIT",
    "REVOKE",
    "OPTOUT",
    "OPT OUT",
    "REMOVE",
  ].map((word) => [word, "opt_out"] as const),
  ...["START", "UNSTOP", "YES"].map((word) => [word, "opt_in"] as const),
  ...["HELP", "INFO"].map((word) => [word, "help"] as const),
]);

/** One or two words, no longer than those above, with what may stand around them. In one pass, however long that is. */
const wholeMessage = /^\s*(\p{L}{1,11}(?: \p{L}{1,3})?)[\p{P}\s]*$/u;

/** What a message asks for. Of who has not opted out, START and YES answer something else. */
export function keywordOf(body: string, isOptedOut: boolean): Keyword | null {
  const word = wholeMessage.exec(body)?.[1]?.toUpperCase() ?? "";
  const keyword = keywords.get(word) ?? null;
  return keyword === "opt_in" && !isOptedOut ? null : keyword;
}

/** Characters that are looked at. */
const mostRead = 1_000;

/**
 * Whether somebody seems to want no more messages without saying so in a keyword: a request to stop, to unsubscribe or to be left alone
 * at the beginning of a clause ("please stop texting me", "stop now pls", "take me off your list"), or a misspelt keyword by itself
 * ("stpo", "unsubcribe"). Not where it is denied or something else is meant: "don't stop", "bus stop", "stop by tomorrow". In English,
 * like the keywords.
 */
export function suspectsOptOut(body: string): boolean {
  if (keywordOf(body, false) === "opt_out") return false;
  const text = foldText(body.slice(0, mostRead), "none")
    .replaceAll("'", "")
    .replace(/[\p{S}_*"“”()-]/gu, " ");
  const clauses = text
    .split(/[^\p{L}\p{N}\s]+|\n|\b(?:and|but|so|or)\b/u)
    .map((clause) => clause.trim());
  const said = clauses
    .filter((clause) => clause !== "")
    .map((clause) => clause.replace(/\s+/g, " "));
  if (said.length === 1 && isMisspeltStop(said[0] ?? "")) return true;
  return said
    .map((clause) => clause.replace(lead, ""))
    .some((clause) => requests.test(clause) || isMisspelt(clause));
}

/** What people begin a request with. */
const lead =
  /^(?:(?:please|pls|plz|just|ok|okay|hey|hi|hello|kindly|now|no(?! more)|omg|ffs|can you|could you|will you|would you|you (?:must|should|need to|have to)|i said|i told you to|i want you to|i want to|i would like to|id like to|i wish to|how (?:do|can) i|let me) )+/;

const messages =
  "(?:texts?|texting|messages?|messaging|sms|spam|spamming|msgs?|alerts?|notifications?|marketing|promos?)";
const verbs =
  "(?:texting|messaging|sending|contacting|spamming|bothering|harassing|bugging|writing|calling|pestering)";

const requests = new RegExp(
  `^(?:${[
    // "stop", "stop now please", "stop it", "stop texting me", "stop all these messages"
    `stop(?: (?:it|this|that|now|already|please|pls|plz|thanks|thank you|immediately|all))*$`,
    `(?:stop|quit)(?: (?:all|with|it))* ${verbs}\\b.*`,
    `(?:stop|end|cancel|no more|enough)(?: (?:all|with|of|the|these|those|this|your|my|sending|any))* ${messages}\\b.*`,
    `(?:unsubscribe|unsub|unenroll|deregister)\\b.*`,
    `opt(?:ing)?(?: (?:me|us))? out\\b.*`,
    `optout\\b.*`,
    `(?:take|get) (?:me|us|my (?:number|phone)) off\\b.*`,
    `(?:remove|delete|erase) (?:me|us|my (?:phone )?number|this (?:phone )?number)\\b.*`,
    `leave me alone\\b.*`,
    `(?:do not|dont|never|quit|stop) (?:text|message|contact|call|write|bother|send)(?: to)? (?:me|us|this|anything|any)\\b.*`,
    `lose my number\\b.*`,
  ].join("|")})$`,
);

/** Two letters changed places, or some stuck. Other slips make words: top, shop, step. */
function isMisspeltStop(word: string): boolean {
  return word !== "stop" && misspeltStops.has(word.replace(/(\p{L})\1+/gu, "$1"));
}

/** Begins with something that can only be `unsubscribe`. */
function isMisspelt(clause: string): boolean {
  const [word = ""] = clause.split(" ");
  return /^un\p{L}{6,12}$/u.test(word) && distance(word, "unsubscribe") <= 2;
}

/** A word, and what it becomes when two neighbours change places. */
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

/** Letters to be put in, left out or exchanged to make one word of the other (Levenshtein). */
function distance(a: string, b: string): number {
  let row = [...b, ""].map((_, i) => i);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      const kept = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(kept, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
