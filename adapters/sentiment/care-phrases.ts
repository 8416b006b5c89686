/**
 * What customers write to a business, and a dictionary of feelings misreads. Weights are on VADER's scale of valence, -4 to 4, where
 * "okay" is 0.9, "broken" -2.1 and "horrible" -2.5. No pattern repeats what repeats, so each takes time in proportion to the text.
 */
export interface CarePhrase {
  readonly pattern: RegExp;
  readonly weight: number;
}

/** Words that sound like a feeling in general and are none in a request or an answer: taken out before the dictionary sees them. */
export const noFeeling: readonly RegExp[] = [
  /\b(?:please|pls|plz)\b/gi,
  /\b(?:would|'d) like to\b/gi,
  /\bI (?:want|need|wish)(?: to)?\b/gi,
  /(?<!not |n't )\b(?:help|assist)(?: me| us)?(?: with| to| out)?\b/gi,
  /\bfree (?:delivery|shipping|returns?|of charge|on \w+|at \w+)/gi,
  /\bno (?:problem|worries|rush|hurry)\b/gi,
  /\b(?:ok|okay|yes|no|sure|number|agreed?)\b/gi,
  /\b(?:gift|credit|loyalty) cards?\b/gi,
  // The name of a place or a person: `12 Hope Street`, `Grace`.
  /(?<=\w[\w,]* )[A-Z][a-z]+ (?:Street|St|Road|Rd|Avenue|Ave|Lane|Drive|Way|Close|Square)\b/g,
];

const things = "(?:order|parcel|package|packet|delivery|item|stuff|money|refund|driver|courier|shipment)s?";
const happen =
  "(?:arrived?|come|came|here|received?|got|delivered|shipped|answer(?:ed)?|repl(?:y|ied)|moved?|fixed|sent)";

export const carePhrases: readonly CarePhrase[] = [
  // It did not come, or late.
  { pattern: new RegExp(`\\bwhere(?:'s| is| are|s) (?:my|our|the) ${things}\\b`, "i"), weight: -2 },
  { pattern: /\bstill (?:waiting|no|not|nothing|haven't|hasn't|don't|doesn't)\b/i, weight: -2 },
  { pattern: /\b(?:was|were) (?:supposed|meant|promised) to\b/i, weight: -1.5 },
  {
    pattern: new RegExp(`\\b(?:never|not|hasn't|haven't|didn't|isn't|wasn't)(?: yet| even)? ${happen}\\b`, "i"),
    weight: -2,
  },
  { pattern: /\b(?:is|are|was|were) (?:\w+ )?(?:late|delayed|overdue)\b/i, weight: -2 },
  { pattern: /\bwait(?:ed|ing) (?:\w+ )?(?:for )?(?:an?|\d+|hours|days|weeks|ages|forever)\b/i, weight: -2 },
  { pattern: /\bon hold\b/i, weight: -1.5 },
  // It does not work, or is not what was ordered.
  {
    pattern: /\b(?:doesn't|don't|won't|didn't|not|isn't|aren't|stopped|never)(?: \w+)? work(?:ing|s|ed)?\b/i,
    weight: -2,
  },
  { pattern: /\b(?:keeps?|kept) (?:\w+ing|on \w+ing)\b/i, weight: -1.5 },
  { pattern: /\bwrong (?:size|item|order|colou?r|one|product|address|amount|thing)\b/i, weight: -1.5 },
  {
    pattern: /\b(?:is|are|was|were|came|arrived) (?:missing|broken|damaged|faulty|defective|torn|scratched)\b/i,
    weight: -1.5,
  },
  // Money.
  { pattern: /\b(?:want|need|demand|like|get|give|where|expect)\b.{0,25}\b(?:refund|money back)\b/i, weight: -2 },
  { pattern: /\b(?:charged|billed|debited)\b.{0,15}\b(?:twice|again|double|too much|wrongly)\b/i, weight: -2.5 },
  // Nobody helps, and it goes on and on.
  { pattern: /\b(?:nobody|no[ -]one|none of you)\b/i, weight: -2 },
  { pattern: /\b(?:second|third|fourth|fifth|\d+(?:nd|rd|th)|umpteenth) time\b/i, weight: -2 },
  {
    pattern: /\b(?:asked|called|emailed|written|wrote|told|contacted)(?: you)? (?:\w+ )?(?:twice|times)\b/i,
    weight: -2,
  },
  {
    pattern: /\b(?:speak|talk)(?:ing)? (?:to|with) (?:a|the|your) (?:manager|supervisor|boss|superior)\b/i,
    weight: -2,
  },
  { pattern: /\b(?:are you|you must be) (?:kidding|joking|serious)\b/i, weight: -3 },
  { pattern: /\b(?:is|what) (?:this )?a joke\b/i, weight: -3.5 },
  // They leave.
  { pattern: /\b(?:cancel|close)\b.{0,15}\b(?:subscription|account|contract|membership)\b/i, weight: -1.5 },
  { pattern: /\b(?:had enough|fed up|sick of|done with (?:you|this))\b/i, weight: -2.5 },
  { pattern: /\b(?:never|not|won't)\b.{0,30}\b(?:order|buy|shop|book|use|come back)\b.{0,20}\bagain\b/i, weight: -3 },
  { pattern: /\bun(?:acceptable|believable|professional)\b/i, weight: -2 },
  // What went well.
  { pattern: /\bno (?:problem|worries) at all\b/i, weight: 1 },
  { pattern: /\bcan(?:'t|not) thank you enough\b/i, weight: 4 },
  { pattern: /\b(?:works|worked|working|sorted|fixed|solved)(?: now| again|, | perfectly| great| fine)/i, weight: 1.5 },
  { pattern: /\byou(?:'re| are) (?:a|the) (?:star|legend|lifesaver|best|angel)\b/i, weight: 3 },
  { pattern: /[😀😃😄😁😊🙂🥰😍🤩😘❤💛💚💙🧡💜👍👏🙏🎉]/u, weight: 2 },
  { pattern: /[😡😠🤬😤👎😢😭😞😒🙄💔]/u, weight: -2 },
];
