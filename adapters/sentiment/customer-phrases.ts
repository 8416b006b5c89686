/**
 * Phrases that customers write to a business and whose sentiment a dictionary misreads. Weights are
 * on VADER's scale of valence from -4 to 4, where "okay" is 0.9, "broken" -2.1 and "horrible" -2.5.
 * No pattern nests repetitions, so each takes time linear in the length of the text.
 */

/** One complaint or praise, and its weight. */
export interface CustomerPhrase {
  /** Ways to say it. The weight counts once, however many of them match. */
  readonly anyOf: readonly RegExp[];
  /** Positive for praise, negative for a complaint. */
  readonly weight: number;
}

/**
 * Phrases with words that sound positive or negative but are neutral in a request or an answer.
 * They are removed before the dictionary scores the text.
 */
export const neutralPhrases: readonly RegExp[] = [
  /\b(?:please|pls|plz)\b/gi,
  /\b(?:would|'d) like(?: to)?\b/gi,
  /\bgood (?:morning|day|afternoon|evening)\b/gi,
  /\bI (?:want|need|wish)(?: to)?\b/gi,
  /(?<!not |n't )\b(?:help|assist)(?: me| us)?(?: with| to| out)?\b/gi,
  /\bfree (?:delivery|shipping|returns?|of charge|on \w+|at \w+)/gi,
  /\bno,? (?:problem|worries|rush|hurry|complaints?|thanks|thank you)\b/gi,
  /^\W*no\b(?=\W*$|,)/gi,
  /\b(?:ok|okay|yes|sure|number|agreed?|cancel(?:led|lation)?|promised)\b/gi,
  /\b(?:gift|credit|loyalty) cards?\b/gi,
  /\bwould be (?:fine|good|ok|okay|best|better)\b/gi,
  /\bcould(?:n't| not) be (?:happier|better|more pleased|more satisfied)\b/gi,
  /\bnever (?:had|seen|eaten|tasted|met) (?:an? )?(?:better|nicer)\b/gi,
  /\bdon't bother\b/gi,
  // Names of people and places: `Mr. Moody`, `My name is Grace Love`, `12 Hope Street`.
  /\b(?:Mr|Mrs|Ms|Dr)\.? [A-Z]\w*/g,
  /(?<=\b[Nn]ame (?:is|of|was) )[A-Z]\w*(?: [A-Z]\w*)?/g,
  /(?<=\w[\w,]* )[A-Z][a-z]+ (?:Street|St|Road|Rd|Avenue|Ave|Lane|Drive|Way|Close|Square)\b/g,
];

const orderNouns =
  "(?:order|parcel|package|packet|delivery|item|stuff|money|refund|deposit|driver|courier|" +
  "shipment)s?";
const arrivalVerbs =
  "(?:arrived?|come|came|here|received?|got|delivered|shipped|answer(?:ed)?|repl(?:y|ied)|" +
  "moved?|fixed|sent|heard|called|paid|refunded)";

/** It did not arrive, or it is late. */
const waiting: readonly CustomerPhrase[] = [
  {
    weight: -2,
    anyOf: [new RegExp(`\\bwhere(?:'s| is| are|s) (?:my|our|the) ${orderNouns}\\b`, "i")],
  },
  { weight: -2, anyOf: [/\bstill (?:waiting|no|not|nothing|haven't|hasn't|don't|doesn't)\b/i] },
  {
    weight: -2,
    anyOf: [
      new RegExp(
        "\\b(?:never|not|nothing|hasn't|haven't|didn't|isn't|wasn't)(?: yet| even| has)? " +
          `${arrivalVerbs}\\b`,
        "i",
      ),
    ],
  },
  {
    weight: -1.5,
    anyOf: [/\b(?:was|were) (?:supposed|meant|promised) to\b/i, /\b(?:you|as|like) promised\b/i],
  },
  {
    weight: -2,
    anyOf: [
      /\b(?:is|are|was|were) (?:\w+ )?(?:late|delayed|overdue)\b/i,
      /\btoo (?:long|late|slow|expensive|loud|cold)\b/i,
      /\bso slow\b/i,
    ],
  },
  {
    weight: -2,
    anyOf: [
      /\bwait(?:ed|ing)? (?:\w+ )?(?:for )?(?:an?|\d+|hours|days|weeks|ages|forever)\b/i,
      /\b(?:it's|it has|has) been (?:\w+ )?(?:hours|days|weeks|months|ages|forever)\b/i,
      /\b(?:sat|stood|sitting|standing) (?:here|there|around)\b/i,
    ],
  },
  {
    weight: -2,
    anyOf: [/\b(?:never|nobody|no[ -]one|didn't|not)(?: even)? (?:turn|show)(?:ed)? up\b/i],
  },
  {
    weight: -1.5,
    anyOf: [
      /\bon hold\b/i,
      /\bhang(?:s|ing)? up on\b|\bhung up on\b/i,
      /\bno (?:reply|response|answer)\b/i,
    ],
  },
];

/** It does not work, or it is not what was ordered. */
const faults: readonly CustomerPhrase[] = [
  {
    weight: -2,
    anyOf: [
      /\b(?:doesn't|don't|won't|didn't|isn't|aren't)(?: \w+)? work(?:ing|s|ed)?\b/i,
      /\b(?:not|stopped|never)(?: \w+)? work(?:ing|s|ed)?\b/i,
      /\b(?:won't|doesn't|don't|didn't|can't|cannot|couldn't) (?:let me|log ?in|sign in)\b/i,
      /\b(?:won't|doesn't|don't|didn't|can't|cannot|couldn't) (?:turn|switch|start|open|close)\b/i,
      /\b(?:won't|doesn't|don't|didn't|can't|cannot|couldn't) (?:load|connect|charge|respond)\b/i,
      /\b(?:is|are|has been|have been|was|went) (?:still )?(?:down|upside down|offline)\b/i,
      /\b(?:is|are|has been|have been|was|went) (?:still )?out of (?:order|date)\b/i,
      /\b(?:logged|kicked|locked|threw|cut) (?:me|us) (?:out|off)\b/i,
      /\b(?:crash(?:es|ed|ing)?|freez(?:es|ing)|froze|drains?|declined|glitch\w*)\b/i,
    ],
  },
  {
    weight: -2,
    anyOf: [
      /\b(?:fell|falls|falling|came|coming) (?:apart|off|loose)\b/i,
      /\b(?:soaked|smashed|leak(?:s|ed|ing)|smell(?:s|ed|y)|upside down|mou?ldy|expired)\b/i,
      /\b(?:an?|two|three|some|with) (?:\w+ )?(?:holes?|cracks?|dents?) (?:in|on)\b/i,
      /\b(?:an?|two|three|some|with) (?:\w+ )?(?:scratch(?:es)?|stains?) (?:in|on)\b/i,
    ],
  },
  {
    weight: -2,
    anyOf: [
      new RegExp(
        String.raw`\b(?:not|isn't|wasn't|aren't|weren't) what (?:I|we)(?:'d|'ve| had| have)? ` +
          String.raw`(?:ordered|paid|asked|expected|wanted|bought)\b`,
        "i",
      ),
      /\bwrong (?:size|item|order|colou?r|one|product|address|amount|thing|everything)\b/i,
    ],
  },
  {
    weight: -2,
    anyOf: [
      /\byou(?:'ve| have)? (?:lost|deleted|cancell?ed|ruined|broke|messed)\b/i,
      /\byou(?:'ve| have)? (?:forgot|forgotten|ignored)\b/i,
      /\byour (?:\w+ ){1,2}(?:lost|deleted|cancell?ed|ruined|forgot|ignored|broke)\b/i,
    ],
  },
  {
    weight: -1.5,
    anyOf: [/\b(?:keeps?|kept) (?:\w+ing|on \w+ing|(?:me|us) (?:awake|waiting))\b/i],
  },
  {
    weight: -1.5,
    anyOf: [
      /\b(?:is|are|was|were|came|arrived) (?:broken|damaged|torn|scratched)\b/i,
      /\b(?:is|are|was|were|came|arrived) (?:missing|faulty|defective|locked)\b/i,
    ],
  },
];

/** They want their money back, or were charged wrongly. */
const money: readonly CustomerPhrase[] = [
  {
    weight: -2.5,
    anyOf: [
      /\b(?:want|need|demand|like|get|give|where|expect)\b.{0,25}\b(?:refund|money back)\b/i,
      /\brefund (?:me|us|now)\b/i,
      /\b(?:charged|billed|debited)\b.{0,20}\b(?:twice|again|double|too much|wrongly)\b/i,
      /\b(?:took|taken)\b.{0,20}\b(?:twice|again|double|too much|wrongly)\b/i,
      /\b(?:overcharged|ripped off|rip[ -]off|scam(?:med)?)\b/i,
    ],
  },
];

/** Nobody helps, the problem continues, or they leave. */
const despair: readonly CustomerPhrase[] = [
  { weight: -2, anyOf: [/\b(?:nobody|no[ -]one|none of you)\b/i] },
  {
    weight: -2,
    anyOf: [
      /\b(?:second|third|fourth|fifth|\d+(?:nd|rd|th)|umpteenth) time (?:I|we|you|this|that|in)\b/i,
      new RegExp(
        String.raw`\b(?:asked|called|emailed|written|wrote|told|contacted|explained)\b.{0,15}` +
          String.raw`\b(?:twice|times|(?:\w+ )?different people)\b`,
        "i",
      ),
    ],
  },
  {
    weight: -2,
    anyOf: [
      /\b(?:speak|talk)(?:ing)? (?:to|with) (?:a|the|your) (?:manager|supervisor|boss|superior)\b/i,
    ],
  },
  {
    weight: -1.5,
    anyOf: [
      /\bwhy (?:does it take|do (?:I|we) have to|did(?:n't)? you|was I|were we|am I)\b/i,
      /\bcan't believe\b/i,
    ],
  },
  {
    weight: -2.5,
    anyOf: [
      /\bhow (?:hard|difficult) can\b/i,
      /\bhow is this even\b/i,
      /\bhow you treat\b/i,
      /\bwhere on earth\b/i,
    ],
  },
  {
    weight: -3,
    anyOf: [
      /\b(?:are you|you must be) (?:kidding|joking|serious)\b/i,
      /\b(?:is|what) (?:this )?a joke\b/i,
    ],
  },
  {
    weight: -1.5,
    anyOf: [
      new RegExp(
        String.raw`(?<!\bhow (?:do|can|could|would) (?:I|we) )\b(?:cancel|close)\b.{0,15}` +
          String.raw`\b(?:subscription|account|contract|membership)\b`,
        "i",
      ),
    ],
  },
  {
    weight: -2.5,
    anyOf: [/\b(?:had enough|fed up|sick of|done with (?:you|this))\b/i, /\bdon't bother\b/i],
  },
  {
    weight: -3,
    anyOf: [
      /\b(?:never|not|won't)\b.{0,30}\b(?:order|buy|shop|book|use|come back)\b.{0,20}\bagain\b/i,
      /\blast time (?:I|we|you)(?:'ll| will)? (?:\w+ )?(?:shop|order|buy|book|come|use|see|get)\b/i,
      /\bnever (?:learn|listen|care|answer)\b/i,
    ],
  },
  { weight: -1.5, anyOf: [/\bwithout (?:asking|telling|warning|informing|notice)\b/i] },
  { weight: -2, anyOf: [/\bun(?:acceptable|believable|professional)\b/i] },
  { weight: -2, anyOf: [/[😡😠🤬😤👎😢😭😞😒🙄💔]/u] },
];

/** It went well. */
const praise: readonly CustomerPhrase[] = [
  { weight: 1, anyOf: [/\bno (?:problem|worries) at all\b/i] },
  {
    weight: 3,
    anyOf: [
      /\bcan(?:'t|not) thank you enough\b/i,
      /\bcould(?:n't| not) be (?:happier|better|more pleased|more satisfied)\b/i,
      /\bnever (?:had|seen|eaten|tasted|met) (?:an? )?(?:better|nicer)\b/i,
      /\byou(?:'re| are) (?:a|the) (?:star|legend|lifesaver|best|angel)\b/i,
      /\b(?:kind of you|you (?:guys |all )?rock|hats off)\b/i,
    ],
  },
  {
    weight: 2,
    anyOf: [
      /\bexactly what (?:I|we)(?: was| were|'d|'ve)? (?:been )?(?:looking|wanted|needed)\b/i,
      /\bexactly what (?:I|we)(?: was| were|'d|'ve)? (?:been )?(?:hoped|hoping|asked)\b/i,
      /\b(?:five|5) stars\b|\b10 ?\/ ?10\b/i,
      /\bno complaints?\b|\bsmoothly\b/i,
      /\b(?:came|arrived|right|and|was) on time\b/i,
      /\bhelped (?:me |us )?(?:a lot|so much)\b/i,
    ],
  },
  {
    weight: 1.5,
    anyOf: [
      /\b(?:works|worked|working|sorted|fixed|solved)(?: now| again|, | perfectly| great| fine)/i,
    ],
  },
  { weight: 2, anyOf: [/[😀😃😄😁😊🙂🥰😍🤩😘❤💛💚💙🧡💜👍👏🙏🎉]/u] },
];

/** All phrases that change a score. */
export const customerPhrases: readonly CustomerPhrase[] = [
  ...waiting,
  ...faults,
  ...money,
  ...despair,
  ...praise,
];
