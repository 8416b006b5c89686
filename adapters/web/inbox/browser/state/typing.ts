/** Who is typing on webchat: visitors, colleagues and agents, and the person who uses the page. */
import { signal } from "@preact/signals";
import type { Conversation, Typing } from "../../../../../src/index.ts";
import { api } from "../../../shared/browser/index.ts";
import { isMe } from "./people.ts";

/** How long somebody counts as typing, in milliseconds. */
const lastsMs = 6_000;
/** How often the person's typing is reported, in milliseconds. */
const reportEveryMs = 3_000;

interface Typist extends Typing {
  readonly end: ReturnType<typeof setTimeout>;
}

const typists = signal<readonly Typist[]>([]);

/** Who is typing in a conversation, except the person who uses the page. */
export const typingIn = (id: string): readonly Typing["author"][] =>
  typists.value.filter((each) => each.conversation_id === id).map(({ author }) => author);

/** Keeps all but some. */
function drop(isOver: (typist: Typist) => boolean): void {
  const now = typists.peek();
  for (const each of now) if (isOver(each)) clearTimeout(each.end);
  if (now.some(isOver)) typists.value = now.filter((each) => !isOver(each));
}

/** Shows for a while that somebody is typing. */
export function showTyping({ conversation_id, author }: Typing): void {
  if (isMe(author)) return;
  const isSame = (each: Typing): boolean =>
    each.conversation_id === conversation_id &&
    each.author.type === author.type &&
    each.author.id === author.id;
  const end = setTimeout(() => drop(isSame), lastsMs);
  const others = typists.peek().filter((each) => !isSame(each));
  for (const each of typists.peek()) if (isSame(each)) clearTimeout(each.end);
  typists.value = [...others, { conversation_id, author, end }];
}

/** A message of the contact, or to the contact, has arrived: what was typed is sent. */
export const endTyping = (id: string, by: "contact" | "us"): void =>
  drop(
    ({ conversation_id, author }) =>
      conversation_id === id && (author.type === "contact") === (by === "contact"),
  );

let reported = { id: "", at: -Infinity };

/** Reports that the person is typing a reply, if the visitor can see it. */
export function reportTyping({ id, medium }: Conversation, body: string): void {
  if (medium !== "webchat" || body.trim() === "") return;
  const at = performance.now();
  if (reported.id === id && at - reported.at < reportEveryMs) return;
  reported = { id, at };
  // If it gets lost, the next one is soon enough.
  api.post(`v1/conversations/${id}/typing`).catch(() => {});
}

/** The person has sent the text. The next one is reported at once. */
export const allowReport = (): void => void (reported = { id: "", at: -Infinity });
