import type { Message } from "../messages/index.ts";
import type { WebchatMessage } from "./types.ts";

/** What a message's visitor may see of it: neither the host's facts about it nor who of its people wrote it. */
export function webchatMessage({
  id,
  direction,
  body,
  media,
  author,
  created_at,
}: Message): WebchatMessage {
  return { id, direction, body, media, author: author.type, created_at };
}
