/** The words of the chat. A page replaces them by attributes: `data-text-title="Talk to us"`. */
export const defaultTexts = {
  title: "Chat with us",
  subtitle: "Ask us anything",
  greeting: "Hello! How can we help you?",
  placeholder: "Write a message",
  open: "Open the chat",
  unread: "Open the chat. Unread messages: {count}",
  close: "Close the chat",
  send: "Send",
  you: "You",
  agent: "Assistant",
  human: "Team",
  queued: "A person will answer you",
  joined: "{name} has joined the chat",
  returned: "{name} has taken over",
  typing: "{name} is typing",
  sending: "Sending",
  waiting: "Waiting for a connection",
  sent: "Sent",
  read: "Read",
  failed: "Not sent.",
  unconfirmed: "It is not certain that this was sent.",
  retry: "Try again",
  discard: "Delete",
  offline: "No connection. What you write is sent later.",
  unavailable: "The chat is not available at the moment.",
  loading: "Loading messages",
  earlier: "Earlier messages",
  newest: "New messages",
  removed: "This message was removed.",
  file: "File",
  left: "Characters left: {count}",
  tooMany: "Wait until the earlier messages are sent.",
  today: "Today",
  yesterday: "Yesterday",
} as const;

export type Texts = Readonly<Record<keyof typeof defaultTexts, string>>;

export const withCount = (text: string, count: number): string =>
  text.replace("{count}", () => String(count));

/** Puts in a name. The texts `agent` and `human` stand for those without one. */
export const withName = (
  text: string,
  texts: Texts,
  author: "agent" | "human",
  name: string | null,
): string => text.replace("{name}", () => name ?? texts[author]);
