/**
 * A small stand-in for a language model. It knows some English and nothing about the shop. Its
 * replies and tool calls depend only on its prompt.
 */
import type { Reply } from "../adapters/models/mocks.ts";

export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly input: Schema;
}

interface Schema {
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly properties?: { readonly [name: string]: Schema };
  readonly required?: readonly string[];
}

export interface Prompt {
  readonly system: string;
  readonly thread: readonly { readonly from: "user" | "assistant"; readonly text: string }[];
  readonly tools: readonly Tool[];
  /** The results of its tool calls, as text. */
  readonly results: readonly string[];
}

export function respondTo(prompt: Prompt): Reply {
  const { system, thread, tools, results } = prompt;
  const asked = thread.at(-1)?.text ?? "";
  const slot = tools.find(({ name }) => name === "_slot");
  if (slot !== undefined) {
    return call("_slot", valueIn(asked, slot.input.properties?.["value"] ?? {}, system));
  }
  const result = results.at(-1);
  if (result !== undefined) return reply(prompt, asked, describeResult(result));
  const politely = courtesies.find(([said]) => said.test(asked.trim()));
  if (politely !== undefined) return { text: politely[1] };

  const about = meanings(asked);
  const least = /^(?:where|what|when|how)\b/i.test(asked) ? 1 : 2;
  const made = tools
    .map((tool) => callOf(tool, about, least, prompt))
    .find((reply) => reply !== undefined);
  if (made !== undefined) return made;
  const playbook = best(playbooksIn(system), about, 2);
  if (playbook !== undefined && tools.some(({ name }) => name === "_start_playbook")) {
    return call("_start_playbook", { playbook_id: playbook.id });
  }
  const piece = best(
    knowledgeIn(system),
    new Set([...about, ...meanings(section(system, "What to do now"))]),
    1,
  );
  if (piece !== undefined) return reply(prompt, asked, piece.says);
  if (/leave the reply's text empty/i.test(section(system, "Instructions"))) {
    return reply(prompt, asked, "");
  }
  return call("_handoff", {
    reason: "I can't help with this.",
    summary: `The customer wrote: ${asked}`,
  });
}

const call = (name: string, input: object): Reply => ({ calls: [{ name, input }] });

function reply({ tools }: Prompt, asked: string, text: string): Reply {
  const fields = tools.find(({ name }) => name === "_reply")?.input.properties ?? {};
  const [, pet] = /\bI have (an? (?:cat|dog))\b/i.exec(asked) ?? [];
  const observations =
    pet === undefined ? [] : [{ content: `Has ${pet}.`, kind: "fact", confidence: 0.9 }];
  return call("_reply", {
    text,
    confidence: 0.9,
    ...("observations" in fields ? { observations } : {}),
  });
}

function describeResult(result: string): string {
  if (result.includes("approve")) return "A colleague has to approve that first.";
  const values = result.startsWith("{") ? Object.values(JSON.parse(result) as object) : undefined;
  return values === undefined
    ? "That didn't work, sorry."
    : `Here is what I see: ${values.join(", ")}.`;
}

const courtesies: readonly (readonly [said: RegExp, answer: string])[] = [
  [/^(?:hi|hello|hey)\b[^?]{0,10}$/i, "Hello! What can I do for you?"],
  [/^(?:thanks|thank you)\b.{0,10}$/i, "You're welcome, any time."],
  [/^(?:never ?mind|forget (?:it|that))\b.{0,5}$/i, "All right, then not."],
];

const alike: readonly (readonly [said: RegExp, meaning: string])[] = [
  [/\b(?:another|different|other) (?:day|time)\b|\bmove\b/g, "reschedule appointment"],
  [/\b(?:open|opened|close|closed|hours)\b/g, "opening"],
  [/\bdeliver\w*|\bships?\b/g, "delivery"],
  [/\b(?:broken|damaged|unhappy|money back)\b/g, "complaint wrong"],
];
const idle = new Set(
  "a an the is are am i you we my your it its of on in to and or for do does can could what when where which who how with by about me"
    .split(" ")
    .concat("contact customer shop another day something".split(" ")),
);

/** The meaningful words of a text. Synonyms become one word. */
function meanings(text: string): Set<string> {
  const plain = alike.reduce(
    (said, [words, meaning]) => said.replaceAll(words, meaning),
    text.toLowerCase(),
  );
  const words = plain.match(/[a-z]+/g) ?? [];
  return new Set(
    words.map((word) => word.replace(/(?<=..)s$/, "")).filter((word) => !idle.has(word)),
  );
}

const shared = (text: string, about: ReadonlySet<string>): number =>
  [...meanings(text)].filter((meaning) => about.has(meaning)).length;

/** The option that shares most words with a text, if it shares at least `least` words. */
function best<T extends { readonly says: string }>(
  options: readonly T[],
  about: ReadonlySet<string>,
  least: number,
) {
  const [first] = options.toSorted(
    (one, other) => shared(other.says, about) - shared(one.says, about),
  );
  return first !== undefined && shared(first.says, about) >= least ? first : undefined;
}

/** Calls a tool if its description matches the question and the text holds all its inputs. */
function callOf(
  tool: Tool,
  about: ReadonlySet<string>,
  least: number,
  { system, thread }: Prompt,
): Reply | undefined {
  const { name, description, input } = tool;
  if (name.startsWith("_") || shared(description, about) < least) return undefined;
  const said = (input.required ?? []).map((field) => {
    const { value } = valueIn(thread.at(-1)?.text ?? "", input.properties?.[field] ?? {}, system);
    return [field, value] as const;
  });
  return said.some(([, value]) => value === undefined)
    ? undefined
    : call(name, Object.fromEntries(said));
}

function section(system: string, title: string): string {
  const [, text = ""] = system.split(`# ${title}\n`);
  return text.split("\n\n# ")[0] ?? "";
}

function playbooksIn(system: string): { id: string; says: string }[] {
  const lines = section(system, "Playbooks that you can start").matchAll(/^- (\S+): (.+)$/gm);
  return [...lines].map(([, id = "", says = ""]) => ({ id, says: says.replaceAll("_", " ") }));
}

function knowledgeIn(system: string): { says: string }[] {
  const pieces = /<knowledge>\n([^]*?)\n<\/knowledge>/.exec(system)?.[1]?.split("\n\n") ?? [];
  return pieces.map((piece) => ({ says: piece.replace(/^\d+\. (.*)\n/, "$1: ") }));
}

const weekdays = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");

/** The customer's answer to a question, if it is unambiguous. */
function valueIn(
  asked: string,
  { enum: options, description = "" }: Schema,
  system: string,
): { value?: string } {
  const meant = asked
    .split(/, |\bbut\b/)
    .filter((clause) => !/\b(?:not|can't|cannot)\b/i.test(clause));
  const named = (names: readonly string[]) =>
    names.filter((name) =>
      meant.some((clause) => clause.toLowerCase().includes(name.toLowerCase())),
    );
  const only = ([value, ...others]: readonly string[]) =>
    value === undefined || others.length > 0 ? {} : { value };
  if (options !== undefined) return only(named(options));
  if (description.includes("YYYY-MM-DD")) {
    const [, today = ""] = /written at \w+, (\d{4}-\d{2}-\d{2})/.exec(system) ?? [];
    return only(named(weekdays).map((name) => coming(weekdays.indexOf(name), today)));
  }
  return only(asked.match(/\b[A-Z]+-\d+\b/g) ?? []);
}

function coming(weekday: number, today: string): string {
  const date = new Date(today);
  do date.setUTCDate(date.getUTCDate() + 1);
  while (date.getUTCDay() !== weekday);
  return date.toISOString().slice(0, 10);
}
