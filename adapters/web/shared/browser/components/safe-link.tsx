import type { JSX } from "preact";

/** Finds addresses in a text. The last character is none of those that end a sentence. */
const address = /\bhttps?:\/\/[^\s<>"'`]{1,2000}[^\s<>"'`.,;:!?)\]}]/giu;

/** Returns the address if it is one of the web, else undefined. */
export function webAddress(given: string): string | undefined {
  try {
    const { protocol, href, username, password } = new URL(given);
    const isWeb = protocol === "https:" || protocol === "http:";
    return isWeb && username === "" && password === "" ? href : undefined;
  } catch {
    return undefined;
  }
}

interface SafeLinkProps {
  readonly url: string;
  readonly children?: string;
}

/** A link that a stranger sent. It is opened without a referrer, or is only text. */
export function SafeLink({ url, children = url }: SafeLinkProps): JSX.Element {
  const href = webAddress(url);
  if (href === undefined) return <bdi>{children}</bdi>;
  return (
    <a
      href={href}
      target="_blank"
      rel="noopener noreferrer nofollow ugc"
      referrerpolicy="no-referrer"
    >
      <bdi>{children}</bdi>
    </a>
  );
}

/** A stranger's text, with its web addresses as links. It is never markup. */
export function StrangerText({ children }: { readonly children: string }): JSX.Element {
  const parts: (string | JSX.Element)[] = [];
  let end = 0;
  for (const { 0: found, index } of children.matchAll(address)) {
    parts.push(
      children.slice(end, index),
      <SafeLink key={index} url={found}>
        {found}
      </SafeLink>,
    );
    end = index + found.length;
  }
  parts.push(children.slice(end));
  return <>{parts}</>;
}
