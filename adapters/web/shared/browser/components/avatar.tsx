import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { currentSession } from "../connection/session.ts";
import { Icon, type IconName } from "./icons.tsx";
import { webAddress } from "./safe-link.tsx";

interface AvatarProps {
  readonly name: string;
  /** Decides the color, so that two people of one name differ. Default: the name. */
  readonly seed?: string;
  readonly icon?: IconName;
  readonly size?: "small" | "large";
  /** The address of an operator's picture. Pictures of strangers are never loaded. */
  readonly picture?: string | null | undefined;
}

const hues = 8;

/** The picture of an operator, if its origin is allowed, else the initials of the name. */
export function Avatar({ name, seed = name, icon, size, picture }: AvatarProps): JSX.Element {
  const [broken, setBroken] = useState<string>();
  const source = picture === broken ? undefined : pictureAddress(picture);
  let hash = 0;
  for (const character of seed) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 65_521;
  return (
    <span
      class={size === undefined ? "avatar" : `avatar avatar-${size}`}
      data-hue={icon ? "none" : hash % hues}
      aria-hidden="true"
    >
      {icon ? <Icon name={icon} /> : (initials(name) ?? <Icon name="person" />)}
      {source !== undefined && (
        <img
          src={source}
          alt=""
          decoding="async"
          referrerpolicy="no-referrer"
          onError={() => setBroken(picture ?? undefined)}
        />
      )}
    </span>
  );
}

/** The content security policy of the page stops pictures of all other origins. */
function pictureAddress(given: string | null | undefined): string | undefined {
  const address = webAddress(given ?? "");
  if (address === undefined) return undefined;
  const { origin } = new URL(address);
  const isAllowed =
    origin === location.origin || currentSession.value?.avatar_origins?.includes(origin) === true;
  return isAllowed ? address : undefined;
}

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** The first letters of the first and the last word. A number or a code has none. */
export function initials(name: string): string | undefined {
  const words = name
    .slice(0, 200)
    .split(/\s+/)
    .filter((word) => /^\p{L}\D*$/u.test(word));
  const letters = words.length > 1 ? [words[0], words.at(-1)] : words.slice(0, 1);
  const first = letters.map((word = "") => {
    for (const { segment } of segmenter.segment(word.slice(0, 16))) return segment.slice(0, 4);
    return "";
  });
  return first.join("").toUpperCase() || undefined;
}
