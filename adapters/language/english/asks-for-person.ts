import { normalizedWords } from "../../../src/kernel/index.ts";
import { isDenied } from "./set-phrases.ts";

/** Words that may precede a person. */
const some = `(?:(?:${[
  "an?|any|some|the|your|one of|another|other|real|actual|live|living|human|proper|different",
  "member of|customer|support|service|sales",
].join("|")}) ){0,4}`;
const human = "(?:human(?: (?:being|help|support|assistance))?|person)";
const agent = `(?:${human}|agent|operator|representative|rep|customer (?:service|support|care))`;
const boss = `(?:${agent}|manager|supervisor|colleague)`;
/** People whom a contact may want to speak to. Without such a wish these words mean nothing. */
const anybody =
  `(?:${boss}|someone|somebody|staff|employee|advis[eo]r|receptionist|owner|boss|team|` +
  "(?:real|actual) people)";
const manners =
  "(?: (?:please|pls|plz|now|right now|here|there|instead|asap|available|thanks|thank you))*";
const speak = "(?:speak|talk|chat)";
const transfer =
  "(?:transfer|connect|put|pass|switch) (?:me|us) (?:(?:over|on|through|straight|directly) ){0,2}";
const want =
  "(?:want|need|id like|would like|prefer|request|get(?: me)?|give me|gimme|can i have|" +
  "ask(?:ing)? for)(?: to (?:see|get|have))?";
const areYou = "(?:are you|is this|am i (?:speaking|talking|chatting) (?:to|with))";
const help =
  "(?:(?:call|contact|text|phone|ring|help|assist|answer) (?:me|us)|take over|" +
  "get back to (?:me|us))";

/** Ways to ask for a person. Each pattern is matched with the words of one clause. */
const wishes = [
  String.raw`\b(?:${speak}|prefer (?:speaking|talking|chatting)) (?:directly )?(?:to|with|2) ` +
    String.raw`${some}${anybody}\b`,
  String.raw`\b(?:${anybody}|anyone|anybody) (?:that |who )?(?:i|we) (?:can|could|may) ` +
    String.raw`${speak} (?:to|with)\b`,
  String.raw`\b${transfer}(?:to|with) ${some}(?:${boss}|someone|somebody)\b(?! who)`,
  String.raw`\b${want} ${some}(?:${agent}|manager|supervisor)${manners}$`,
  String.raw`\bis there ${some}${agent}${manners}$`,
  String.raw`\b${areYou} ${some}${human}${manners}$`,
  String.raw`\b(?:can|could|will|would|have|get|let|want|need|like) ${some}${boss} ` +
    String.raw`(?:to )?(?:please )?${help}\b`,
  String.raw`^(?:an? )?(?:(?:real|actual|live) )?${human}${manners}$`,
  String.raw`^(?:an? )?(?:(?:real|actual|live|human) )*${agent} (?:please|pls|plz|now)${manners}$`,
].map((wish) => new RegExp(wish));
const onlyAgent = new RegExp(`^(?:an? )?(?:(?:real|actual|live|human) )*${agent}${manners}$`);

const clauseEnd = /[.,;:!?()\n\u2026\u2013\u2014]+/u;
const clauseStart = / (?:but|and|so|because) | (?=(?:can|could|may) (?:i|you|we)\b|let me\b)/;
/**
 * Negations that deny no wish: of a question, "Can't I speak to a person?", and of a complaint,
 * "This doesn't work I want a person".
 */
const otherNegation = new RegExp(
  String.raw`\b(?:(?:cant|wont|dont|isnt) (?:i|we|you|there|let)|` +
    String.raw`(?:does|did|would|could|should|are|was)nt)\b`,
  "g",
);
const otherDenials = /\b(?:no need|instead of|rather than|hate|avoid)\b/;

/** A clause that denies its wish, such as "I don't want to talk to a person", does not count. */
export function asksForPerson(text: string): boolean {
  if (onlyAgent.test(normalizedWords(text))) return true;
  const clauses = text
    .split(clauseEnd)
    .flatMap((clause) => normalizedWords(clause).split(clauseStart));
  return clauses.some((clause) =>
    wishes.some((wish) => {
      const found = wish.exec(clause);
      return found !== null && !deniesBefore(clause.slice(0, found.index));
    }),
  );
}

function deniesBefore(start: string): boolean {
  const rest = start.replaceAll(otherNegation, "");
  return isDenied(rest) || otherDenials.test(rest);
}
